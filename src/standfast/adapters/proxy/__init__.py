"""An OpenAI-compatible proxy that remembers: a client changes its base URL and nothing else.

Chat completions and responses get a packet of memories before they go on, and what both sides say
is observed when the answer is through. Everything else passes as it came. Whatever goes wrong with
the memory, the request goes on without it, and a header says so.
"""
