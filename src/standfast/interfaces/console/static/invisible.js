// Invisible characters are left out and control characters written as escapes, as by
// `standfast/types/invisible.py`; a joiner that a script or an emoji needs stays.
const EMOJI = "\\u00a9\\u00ae\\u203c\\u2049\\u2122\\u2139\\u2190-\\u2bff\\u3030\\u303d\\u3297\\u3299\\u{1f000}-\\u{1faff}";
const HAN = "\\u2e80-\\u9fff\\uf900-\\ufaff\\u{20000}-\\u{3ffff}";
const JOINING = "\\u0620-\\u085f\\u0870-\\u0dff\\u1000-\\u109f\\u1780-\\u17b3\\u17b6-\\u17ff\\u1820-\\u18aa\\u1a20-\\u1cff\\ua840-\\ua877\\ua8e0-\\uaaff\\uabc0-\\uabff\\ufb50-\\ufdcf\\ufdf0-\\ufdff\\ufe70-\\ufefc\\u{10a00}-\\u{11fff}\\u{1e900}-\\u{1e95f}";
const INVISIBLE = "\\u00ad\\u034f\\u061c\\u115f\\u1160\\u17b4\\u17b5\\u180b-\\u180f\\u200b-\\u200f\\u202a-\\u202e\\u2060-\\u206f\\u3164\\ufe00-\\ufe0f\\ufeff\\uffa0\\ufff0-\\ufffb\\u{1bca0}-\\u{1bca3}\\u{1d173}-\\u{1d17a}\\u{e0000}-\\u{e0fff}";
const NEEDED = [
  "\\u{1f3f4}\\u{e0067}\\u{e0062}(?:\\u{e0065}\\u{e006e}\\u{e0067}|\\u{e0073}\\u{e0063}\\u{e0074}|\\u{e0077}\\u{e006c}\\u{e0073})\\u{e007f}",
  `(?<=[${EMOJI}\\ufe0f])\\u200d(?=[${EMOJI}])`,
  `(?<=[${JOINING}])\\u200d(?![${INVISIBLE}])`,
  `(?<=[${JOINING}])\\u200c(?=[${JOINING}])`,
  `(?<=[${EMOJI}0-9#*])[\\ufe0e\\ufe0f]`,
  `(?<=[\\u2200-\\u23ff\\u2a00-\\u2aff\\u1000-\\u109f\\ua840-\\ua877\\uff01-\\uff60${HAN}])[\\ufe00-\\ufe02]`,
  `(?<=[${HAN}])[\\u{e0100}-\\u{e011f}]`,
  "(?<=[\\u1820-\\u18aa])[\\u180b-\\u180f]",
  "\\u115f(?=[\\u1160-\\u11a7])|(?<=[\\u1100-\\u115f])\\u1160",
];
const HIDDEN = new RegExp(`(${NEEDED.join("|")})|[${INVISIBLE}]+`, "gu");
const CONTROL = /[\u0000-\u0008\u000b\u000c\u000e-\u001f\u007f-\u009f\u2028\u2029\ud800-\udfff\ue000-\uf8ff\ufdd0-\ufdef\ufffe\uffff\u{f0000}-\u{10ffff}]/gu;
const escape = (sign) => sign.split("").map((unit) => `\\u${unit.charCodeAt(0).toString(16).padStart(4, "0")}`).join("");
export const shown = (text) => text.replace(HIDDEN, (_, needed) => needed || "").replace(CONTROL, escape);
