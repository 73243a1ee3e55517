"""Names that would be run, followed or obeyed somewhere, if somebody let them."""

ADDRESS = "http://mercer-test.invalid/x"
NAMES = (
    "<script>alert(1)</script>",
    f'"><img src=x onerror="document.title=1;fetch(\'{ADDRESS}\')">',
    "' onmouseover='alert(2)' x='",
    "</title></style></script><svg/onload=alert(3)>",
    "javascript:alert(4)",
    f"<base href='{ADDRESS}'><iframe src='javascript:alert(5)'></iframe>",
    f"x;background:url({ADDRESS})",
    "{{ 7*7 }}{% include 'page.css' %}${8*8}",
    "<!--<script>]]>&lt;&#x3c;script&#x3e;",
    "\u202eevil\u2028\u2029line",
    "__proto__",
    f"data:text/html,<script>alert(6)</script> {ADDRESS}<a href=//x>",
)
# Nothing of it may become an element or attribute.
MARKS = ("<script>alert", "<img", "<iframe", "<base", "<svg/onload", 'onerror="', "<a href=//x")
TERMINAL = (
    "\x1b[31mred\x1b]0;title\x07",
    "\x9b2J",
    "[bold red]x[/] [link=http://x.invalid]y[/link] [/]",
    ":skull: \\",
    "two\r\nlines\x08\x08",
    "\u202eright to left",
)
