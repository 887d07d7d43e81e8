"""What runs inside the server, all of it or nothing: reading keys, writing them, and the few steps
about all roots. Values go through as they are; nothing here reads them.

A script that has begun to write cannot be undone, so each compares first, and what it does then
cannot fail: keys and values are of the types that it has made itself.
"""

# KEYS: values (a hash), order (a sorted set of the keys). ARGV: questions.
READ = """
local values, order = KEYS[1], KEYS[2]
local out, i = {}, 1
local function got(names)
  local found = {}
  for from = 1, #names, 1000 do
    local part = redis.call('HMGET', values, unpack(names, from, math.min(from + 999, #names)))
    for j = 1, #part do found[#found + 1] = part[j] or '' end
  end
  return found
end
local function followed(found)
  local there, names = {}, {}
  for j = 1, #found do
    if found[j] ~= '' then names[#names + 1] = found[j]; there[#there + 1] = j end
  end
  local all = {}
  for j = 1, #found do all[j] = '' end
  local bodies = got(names)
  for j = 1, #bodies do all[there[j]] = bodies[j] end
  return all
end
while i <= #ARGV do
  local what = ARGV[i]
  if what == 'g' or what == 'f' then
    local value = redis.call('HGET', values, ARGV[i + 1])
    if value and what == 'f' then value = redis.call('HGET', values, value) end
    out[#out + 1] = value
    i = i + 2
  else
    local low, high = '[' .. ARGV[i + 1], '(' .. ARGV[i + 2]
    local flags, keys = ARGV[i + 4], nil
    if string.find(flags, 'n') then
      keys = redis.call('ZREVRANGEBYLEX', order, high, low, 'LIMIT', 0, ARGV[i + 3])
    else
      keys = redis.call('ZRANGEBYLEX', order, low, high, 'LIMIT', 0, ARGV[i + 3])
    end
    if string.find(flags, 'b') then
      out[#out + 1] = {keys}
    else
      local found = got(keys)
      if string.find(flags, 'f') then found = followed(found) end
      out[#out + 1] = {keys, found}
    end
    i = i + 5
  end
end
return out
"""

# KEYS: values, order, then what is known about all roots (not in a cluster): roots, due, until,
# news. ARGV: the root, its channel, what it was ("e" entered, "u" used, "m" more), then lists that
# begin with their length: expected (key, "1" or "0", value), spans, keys that are gone, keys and
# values, and what else is to be done, as commands of vector sets.
# Answers 1: done; 2: it was done already (this very header is there); 0: not as expected.
WRITE = """
local values, order = KEYS[1], KEYS[2]
local i = 4
local function number() i = i + 1; return tonumber(ARGV[i - 1]) end
local first, expected = i, number()
local differs = false
for j = 1, expected do
  local value = redis.call('HGET', values, ARGV[i])
  local wanted = ARGV[i + 1] == '1' and ARGV[i + 2] or false
  if value ~= wanted then differs = true end
  i = i + 3
end
local spans = number()
local spans_at = i
i = i + 2 * spans
local gone = number()
local gone_at = i
i = i + gone
local puts = number()
local puts_at = i
i = i + 2 * puts
if differs then
  for j = puts_at, i - 2, 2 do
    if ARGV[j] == '.n' then
      if redis.call('HGET', values, '.n') == ARGV[j + 1] then return 2 end
    end
  end
  return 0
end
for j = spans_at, spans_at + 2 * spans - 1, 2 do
  local low, high = '[' .. ARGV[j], '(' .. ARGV[j + 1]
  local keys = redis.call('ZRANGEBYLEX', order, low, high)
  for from = 1, #keys, 1000 do
    redis.call('HDEL', values, unpack(keys, from, math.min(from + 999, #keys)))
  end
  redis.call('ZREMRANGEBYLEX', order, low, high)
end
for from = gone_at, gone_at + gone - 1, 1000 do
  local last = math.min(from + 999, gone_at + gone - 1)
  redis.call('HDEL', values, unpack(ARGV, from, last))
  redis.call('ZREM', order, unpack(ARGV, from, last))
end
local members, fields = {}, {}
for j = puts_at, puts_at + 2 * puts - 1, 2 do
  if string.byte(ARGV[j]) ~= 46 then
    members[#members + 1] = 0
    members[#members + 1] = ARGV[j]
  end
  if ARGV[j + 1] ~= '' then
    fields[#fields + 1] = ARGV[j]
    fields[#fields + 1] = ARGV[j + 1]
  end
end
for from = 1, #members, 1000 do
  redis.call('ZADD', order, unpack(members, from, math.min(from + 999, #members)))
end
for from = 1, #fields, 1000 do
  redis.call('HSET', values, unpack(fields, from, math.min(from + 999, #fields)))
end
while i <= #ARGV do
  local size = number()
  redis.call(unpack(ARGV, i, i + size - 1))
  i = i + size
end
if ARGV[3] ~= '' then
  if #KEYS > 2 then
    if ARGV[3] == 'e' then
      redis.call('ZADD', KEYS[3], 0, ARGV[1])
      redis.call('ZADD', KEYS[5], 'NX', '-inf', ARGV[1])
    end
    redis.call('ZADD', KEYS[4], 0, ARGV[1])
    if ARGV[3] ~= 'm' then redis.call('ZADD', KEYS[6], 0, ARGV[1]) end
  end
  redis.call('PUBLISH', ARGV[2], '')
end
return 1
"""
# The same for what drops records: a server that is full must be able to forget.
ERASE = "#!lua flags=allow-oom\n" + WRITE

# KEYS: due, roots, space. ARGV: the space that is asked for. If it is another than the last time,
# something may be due in every root.
OTHER_SPACE = """
local space = redis.call('GET', KEYS[3])
if space == ARGV[1] then return 0 end
redis.call('SET', KEYS[3], ARGV[1])
for _, root in ipairs(redis.call('ZRANGE', KEYS[2], 0, -1)) do
  redis.call('ZADD', KEYS[1], '-inf', root)
end
return 1
"""

# KEYS: values of a root, due. ARGV: the root, the header that it should have, when ("": never).
REST = """
if redis.call('HGET', KEYS[1], '.n') ~= ARGV[2] then return 0 end
if ARGV[3] == '' then redis.call('ZREM', KEYS[2], ARGV[1])
else redis.call('ZADD', KEYS[2], ARGV[3], ARGV[1]) end
return 1
"""

# KEYS: values of a root, until, news. ARGV: the root, its header, when, "1" if there are news.
SETTLE = """
redis.call('ZADD', KEYS[2], ARGV[3], ARGV[1])
if ARGV[4] == '1' or redis.call('HGET', KEYS[1], '.n') ~= ARGV[2] then
  redis.call('ZADD', KEYS[3], 0, ARGV[1])
else
  redis.call('ZREM', KEYS[3], ARGV[1])
end
return 1
"""

# KEYS: whose an id is. ARGV: the old root, the new one with the time, how old it must be (ms).
TAKE_OVER = """
local value = redis.call('GET', KEYS[1])
if value then
  local at = string.find(value, '%z')
  if string.sub(value, 1, at - 1) ~= ARGV[1] then return 0 end
  local time = redis.call('TIME')
  local now = time[1] * 1000 + math.floor(time[2] / 1000)
  if now - tonumber(string.sub(value, at + 1)) < tonumber(ARGV[3]) then return 0 end
end
redis.call('SET', KEYS[1], ARGV[2])
return 1
"""

# KEYS: whose an id is. ARGV: the root that gives it back.
RELEASE = """
local value = redis.call('GET', KEYS[1])
if value and string.sub(value, 1, #ARGV[1] + 1) == ARGV[1] .. '\\0' then
  redis.call('DEL', KEYS[1])
end
return 1
"""
