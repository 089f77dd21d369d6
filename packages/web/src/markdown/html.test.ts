import { describe, expect, test } from "vitest";
import { safeAddress, showBlock } from "./html.ts";
import { splitWhole } from "./split.ts";

const html = (text: string): string =>
  splitWhole(text)
    .map(showBlock)
    .map((block) => (block.kind === "html" ? block.html : `CODE[${block.language}]${block.text}`))
    .join("")
    .trim();

describe("hostile text", () => {
  test.each([
    ["<script>window.P=1</script>", "<script"],
    ['<img src=x onerror="window.P=1">', "<img"],
    ["<svg/onload=window.P=1>", "<svg"],
    ['<iframe srcdoc="<script>parent.P=1</script>">', "<iframe"],
    ["[x](javascript:window.P=1)", "href"],
    ["[x](JaVaScRiPt:window.P=1)", "href"],
    ["[x](java\tscript:window.P=1)", "href"],
    ["[x](data:text/html,<script>1</script>)", "href"],
    ["[x](vbscript:x)", "href"],
    ["<javascript:alert(1)>", "href"],
    ["![x](https://evil.example/p.png?q=SECRET)", "<img"],
    ["![x](javascript:alert(1))", "href"],
    ['<form action="https://evil.example"><button>ok</button></form>', "<form"],
    ["<pre><img src=x onerror=alert(1)", "<img"],
    ["`<img src=x onerror=alert(1)>`", "<img"],
    ["```\n<script>1</script>\n```\n\n- ```\n  <script>2</script>\n  ```", "<script>2"],
    ["| <script>1</script> |\n|---|\n| <b onclick=x> |", "<b "],
    ['[x](https://a.b "\\" onclick=\\"x")', '" onclick="'],
    ["[a]: javascript:x\n\n[a]", "href"],
    ["# <style>*{display:none}</style>", "<style"],
  ])("%s makes no markup", (text, banned) => {
    expect(html(text).replace(/^CODE.*$/gm, "")).not.toContain(banned);
  });

  test("raw tags stay readable as text", () => {
    expect(html("a <b>c</b>")).toBe("<p>a &lt;b&gt;c&lt;/b&gt;</p>");
  });
});

describe("what is shown", () => {
  test.each([
    ["**b** and `c<d`", "<p><strong>b</strong> and <code>c&lt;d</code></p>"],
    ["snake_case_name", "<p>snake_case_name</p>"],
    ["$(pwd)", "<p>$(pwd)</p>"],
    ["a & b &amp; c", "<p>a &amp; b &amp;amp; c</p>"],
    [
      "[l](https://a.example/?a=1&b=2)",
      '<p><a href="https://a.example/?a=1&amp;b=2" target="_blank" rel="noopener noreferrer nofollow">l</a></p>',
    ],
    [
      "![pic](https://a.example/p.png)",
      '<p><a href="https://a.example/p.png" target="_blank" rel="noopener noreferrer nofollow">Image: pic</a></p>',
    ],
    ["[l](src/a.ts)", '<p><span title="src/a.ts">l</span></p>'],
    [
      "[\u202emoc.a](https://evil.example/)",
      '<p><a href="https://evil.example/" target="_blank" rel="noopener noreferrer nofollow">⟨U+202E⟩moc.a</a></p>',
    ],
    [
      "![\u202egnp](https://evil.example/)",
      '<p><a href="https://evil.example/" target="_blank" rel="noopener noreferrer nofollow">Image: ⟨U+202E⟩gnp</a></p>',
    ],
    ["```rust\nlet a;\n```", "CODE[rust]let a;"],
  ])("%s", (text, expected) => {
    expect(html(text)).toBe(expected);
  });
});

test.each([
  ["https://a.example/", "https://a.example/"],
  ["mailto:a@b.example", "mailto:a@b.example"],
  ["javascript:1", null],
  ["java\nscript:1", null],
  ["file:///etc/passwd", null],
  ["/relative", null],
  ["", null],
])("the address %j is %j", (href, expected) => {
  expect(safeAddress(href)).toBe(expected);
});
