"""Small web pages of every sort, for traces that tests build."""

LOREM = (
    "The council met on Tuesday to discuss the plan for the new tram line. "
    "Engineers presented drawings of the bridge and answered questions from residents. "
)


def article(text: str, *, title: str = "A page", published: str | None = None) -> str:
    """An article page around a text, long enough to be content, with a date in its metadata."""
    date = "" if published is None else _meta(published)
    filler = "".join(f"<p>{sentence}.</p>" for sentence in _sentences(title))
    return (
        f"<html><head><title>{title}</title>{date}</head><body><article><h1>{title}</h1>"
        f"<p>{text}</p>{filler}</article></body></html>"
    )


def _meta(published: str) -> str:
    return f'<meta property="article:published_time" content="{published}T08:00:00Z">'


def _sentences(title: str) -> list[str]:
    """Filler that differs between pages, so that no two are near-duplicates."""
    return [f"{title} note {number}: {LOREM}{title} item {number * 7}" for number in range(3)]


LOGIN = (
    "<html><head><title>Sign in</title></head><body><form action='/login'><label>Email</label>"
    "<input name='user'><input type='password' name='password'><button>Log in</button>"
    "<a>Forgot your password?</a></form></body></html>"
)
CHALLENGE = (
    "<html><head><title>Just a moment...</title></head><body>"
    "<script src='/cdn-cgi/challenge-platform/h/b/orchestrate/jsch/v1'></script>"
    "Checking your browser before accessing the site.</body></html>"
)
SOFT_404 = (
    "<html><head><title>Page not found</title></head><body><h1>Sorry</h1>"
    "<p>The page you are looking for does not exist.</p></body></html>"
)
CONSENT = (
    "<html><head><title>Before you continue</title></head><body><h1>Before you continue</h1>"
    "<p>We value your privacy. Accept all cookies to go on.</p></body></html>"
)
JS_SHELL = (
    "<html><head><title>App</title></head><body><noscript>You need to enable JavaScript to run "
    "this app.</noscript><div id='root'></div><script src='/app.js'></script></body></html>"
)
EMPTY = "<html><head></head><body></body></html>"
PARKED = (
    "<html><head><title>example.net</title></head><body><h1>This domain is for sale</h1>"
    "<p>Buy this domain today.</p></body></html>"
)
