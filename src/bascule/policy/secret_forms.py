"""Patterns of secrets, and the text that replaces each. Pure; `scrub.py` applies them."""

import re

from bascule.policy.scrub import HIDDEN

_NAME = (
    r"(?:pass(?:word|wd|phrase)?|secret|token|api[_-]?key|apikey|access[_-]?key|secret[_-]?key|private[_-]?key|"
    r"client[_-]?secret|auth[_-]?token|credentials?|encryption[_-]?key|signing[_-]?key)"
)
# Words that stand where a secret would, in examples and in code: they tell nothing.
_HARMLESS = (
    r"(?:\$\{?\w|%\w+%|<|\{\{?|\[|\(|\*{3}|x{3,}\b|…|\.\.\.|os\.|process\.|env\b|getenv|null\b|none\b|true\b|false\b|"
    r"undefined\b|str\b|string\b|bytes\b|required\b|optional\b|redacted|hidden|your[_-])"
)
_EDGE = r"(?<![A-Za-z0-9])"
_END = r"(?![A-Za-z0-9])"

# What is hidden, and what is put in its place. The rules run in this order.
RULES: tuple[tuple[re.Pattern[str], str], ...] = (
    # A private key, whole; one that is cut off at the end too.
    (
        re.compile(
            r"-----BEGIN [A-Z0-9 ]*PRIVATE KEY(?: BLOCK)?-----.*?"
            r"(?:-----END [A-Z0-9 ]*PRIVATE KEY(?: BLOCK)?-----|\Z)",
            re.DOTALL,
        ),
        HIDDEN,
    ),
    # Keys of model providers: sk-ant-…, sk-proj-…, sk-or-v1-…
    (re.compile(rf"{_EDGE}sk-[A-Za-z0-9_-]{{16,}}"), HIDDEN),
    # Stripe, and others of that form
    (re.compile(rf"{_EDGE}(?:sk|rk|pk|whsec)_(?:live_|test_)?[A-Za-z0-9]{{16,}}"), HIDDEN),
    # GitHub, GitLab
    (re.compile(rf"{_EDGE}gh[pousr]_[A-Za-z0-9]{{20,}}"), HIDDEN),
    (re.compile(rf"{_EDGE}github_pat_[A-Za-z0-9_]{{20,}}"), HIDDEN),
    (re.compile(rf"{_EDGE}gl(?:pat|dt|rt|cbt|ptt|ft|soat)-[A-Za-z0-9_.-]{{16,}}"), HIDDEN),
    # AWS, Google, Azure
    (re.compile(rf"{_EDGE}(?:AKIA|ASIA|ABIA|ACCA)[A-Z2-7]{{16}}{_END}"), HIDDEN),
    (re.compile(rf"{_EDGE}AIza[A-Za-z0-9_-]{{35}}"), HIDDEN),
    (re.compile(rf"{_EDGE}ya29\.[A-Za-z0-9_-]{{20,}}"), HIDDEN),
    (re.compile(rf"{_EDGE}GOCSPX-[A-Za-z0-9_-]{{20,}}"), HIDDEN),
    (re.compile(r"(?i)\b((?:AccountKey|SharedAccessKey)=)[A-Za-z0-9+/=]{20,}"), rf"\1{HIDDEN}"),
    # Slack, Discord, Telegram: tokens, and addresses that are as good as one
    (re.compile(rf"{_EDGE}xox[abeprs]-[A-Za-z0-9-]{{10,}}"), HIDDEN),
    (re.compile(rf"{_EDGE}xapp-[0-9]-[A-Za-z0-9-]{{10,}}"), HIDDEN),
    (
        re.compile(r"(https://hooks\.slack\.com/(?:services|workflows|triggers)/)[A-Za-z0-9/_-]+"),
        rf"\1{HIDDEN}",
    ),
    (
        re.compile(r"(https://(?:\w+\.)?discord(?:app)?\.com/api/webhooks/)[0-9]+/[A-Za-z0-9_-]+"),
        rf"\1{HIDDEN}",
    ),
    (re.compile(r"(?<![0-9])(?:bot)?[0-9]{8,10}:AA[A-Za-z0-9_-]{33}(?![A-Za-z0-9_-])"), HIDDEN),
    # Package registries, hosts and other services
    (re.compile(rf"{_EDGE}npm_[A-Za-z0-9]{{30,}}"), HIDDEN),
    (re.compile(rf"{_EDGE}pypi-[A-Za-z0-9_-]{{50,}}"), HIDDEN),
    (re.compile(rf"{_EDGE}dop_v1_[a-f0-9]{{64}}"), HIDDEN),
    (re.compile(rf"{_EDGE}hf_[A-Za-z0-9]{{30,}}"), HIDDEN),
    (re.compile(rf"{_EDGE}gsk_[A-Za-z0-9]{{40,}}"), HIDDEN),
    (re.compile(rf"{_EDGE}xai-[A-Za-z0-9]{{40,}}"), HIDDEN),
    (re.compile(rf"{_EDGE}SG\.[A-Za-z0-9_-]{{16,}}\.[A-Za-z0-9_-]{{16,}}"), HIDDEN),
    (re.compile(rf"{_EDGE}(?:shpat|shpss|shpca|shppa)_[a-fA-F0-9]{{32}}"), HIDDEN),
    (re.compile(rf"{_EDGE}lin_api_[A-Za-z0-9]{{32,}}"), HIDDEN),
    (re.compile(rf"{_EDGE}tk_[a-z0-9]{{29}}{_END}"), HIDDEN),
    (re.compile(rf"{_EDGE}AGE-SECRET-KEY-1[A-Z0-9]{{50,}}"), HIDDEN),
    # JSON Web Tokens
    (re.compile(rf"{_EDGE}eyJ[A-Za-z0-9_-]{{8,}}\.[A-Za-z0-9_-]{{8,}}\.[A-Za-z0-9_-]*"), HIDDEN),
    # Authorization: Bearer …, Basic …
    (
        re.compile(r"(?i)\b(bearer|basic)(\s+)(?=[^\s\"',;<>]*[0-9A-Z+/=_.-])[A-Za-z0-9+/_.~=-]{12,}"),
        rf"\1\2{HIDDEN}",
    ),
    # A password in an address
    (
        re.compile(
            r"\b([a-z][a-z0-9+.-]{1,20}://[^\s/:@\"'<>]{0,100}:)(?!\[hidden\])[^\s/@\"'<>]{1,300}(?=@)"
        ),
        rf"\1{HIDDEN}",
    ),
    # "password": "…" and password = "…": quoted, spaces and all
    (
        re.compile(
            rf"(?i)({_NAME}[\w-]{{0,20}}[\"']?\s*[:=]\s*)"
            rf"([\"'])(?!{_HARMLESS})(?=[^\"'\n]{{6}})((?!\2)[^\n]){{1,2000}}\2"
        ),
        rf"\1\2{HIDDEN}\2",
    ),
    # ?token=… and DB_PASSWORD=…: bare, in an address, a shell or an .env file
    (
        re.compile(rf"(?i)({_NAME}[\w-]{{0,20}}=)(?!{_HARMLESS}|[\"'])[^\s\"'&;,<>()`]{{6,}}"),
        rf"\1{HIDDEN}",
    ),
    # password: …, in YAML or a sentence; only what has a digit in it, since words follow a colon, too
    (
        re.compile(
            rf"(?i)({_NAME}[\w-]{{0,20}}:\s+)"
            rf"(?!{_HARMLESS}|[\"'])(?=\S*[0-9])(?=\S*[A-Za-z])[^\s\"',;<>()`]{{8,}}"
        ),
        rf"\1{HIDDEN}",
    ),
    # A bare 256-bit secret as our own links carry it: 43 characters of URL-safe base64.
    (
        re.compile(
            r"(?<![\w+/-])(?=[\w-]{0,42}[A-Z])(?=[\w-]{0,42}[a-z])(?=[\w-]{0,42}\d)[A-Za-z0-9_-]{43}(?![\w+/=-])"
        ),
        HIDDEN,
    ),
)
