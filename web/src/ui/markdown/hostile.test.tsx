import { renderToStaticMarkup } from "react-dom/server";
import { expect, test, vi } from "vitest";
import { IncrementalDocument } from "./incremental";
import { Markdown } from "./index";

/** What is drawn on the server has no browser to ask for its language. */
vi.mock("../../lib/i18n", () => ({
  phrases: (all: unknown) => all,
  useWords: (words: { en: unknown }) => words.en,
}));

const PAYLOADS = [
  "[x](javascript:alert(1))",
  "[x](JaVaScRiPt:alert(1))",
  "[x](  javascript:alert(1))",
  "[x](java\nscript:alert(1))",
  "[x](java&#10;script:alert(1))",
  "[x](&#106;avascript:alert(1))",
  "[x](&#x6A;avascript&colon;alert(1))",
  "[x](javascript&#58;alert(1))",
  "[x](\u0001javascript:alert(1))",
  "[x](<java\tscript:alert(1)>)",
  "[x](vbscript:msgbox(1))",
  "[x](data:text/html,<script>alert(1)</script>)",
  "[x](data:text/html;base64,PHNjcmlwdD4=)",
  "[x](blob:https://a.b/c)",
  "[x](file:///etc/passwd)",
  "[x](view-source:https://a.b)",
  "[x](//evil.example/a)",
  "[x](/\\evil.example/a)",
  "[x](intent://a#Intent;end)",
  "[x][r]\n\n[r]: javascript:alert(1)",
  "[1]\n\n[1]: javascript:alert(1)",
  "[^1]\n\n[^1]: [x](javascript:alert(1))",
  "![x](javascript:alert(1))",
  "![x](https://evil.example/beacon.png)",
  "![x][r]\n\n[r]: https://evil.example/beacon.png",
  "[![x](https://evil.example/b.png)](javascript:alert(1))",
  "![x](data:image/svg+xml,<svg onload=alert(1)>)",
  "<javascript:alert(1)>",
  "<vbscript:alert(1)>",
  "<data:text/html,x>",
  "<script>alert(1)</script>",
  "<img src=x onerror=alert(1)>",
  "<img srcset='https://evil.example/a 1x'>",
  "<picture><source srcset=https://evil.example/a></picture>",
  "<video poster=https://evil.example/a></video>",
  "<audio src=https://evil.example/a autoplay></audio>",
  "<svg onload=alert(1)><image href=https://evil.example/a /></svg>",
  "<meta http-equiv=refresh content='0;url=https://evil.example'>",
  "<base href=https://evil.example>",
  "<link rel=stylesheet href=https://evil.example/a.css>",
  "<link rel=dns-prefetch href=//evil.example>",
  "<STYLE>@import url(https://evil.example/a.css)</STYLE>",
  "<div style='background:url(https://evil.example/a)'>x</div>",
  "<table background=https://evil.example/a><tr><td>x</table>",
  "<iframe src=javascript:alert(1)></iframe>",
  "<iframe srcdoc='<script>alert(1)</script>'></iframe>",
  "<object data=https://evil.example/a></object>",
  "<embed src=https://evil.example/a>",
  "<form action=https://evil.example><button>x</button></form>",
  "<a href=javascript:alert(1)>x</a>",
  "<a href=https://evil.example ping=https://evil.example>x</a>",
  "<math><mtext><img src=x onerror=alert(1)></mtext></math>",
  "<details open ontoggle=alert(1)>x</details>",
  "<input autofocus onfocus=alert(1)>",
  "| a |\n|---|\n| <img src=x onerror=alert(1)> [x](javascript:alert(1)) |",
  "- [ ] <script>alert(1)</script>",
  '```"><script>alert(1)</script>\nx\n```',
  "```html\n<script>alert(1)</script>\n```",
  "`<img src=x onerror=alert(1)>`",
  "$\\href{javascript:alert(1)}{x}$",
  "$$\\includegraphics{https://evil.example/a}$$",
  '[x](https://a.b "onmouseover=alert(1)")',
  '[x](https://a.b/"onmouseover=alert(1))',
  "https://a.b/<script>alert(1)</script>",
  "<!-- --><script>alert(1)</script>",
  "<![CDATA[<script>alert(1)</script>]]>",
  "<?php echo 1 ?>",
];

const ELEMENTS = new Set(
  "div p ul ol li h3 h4 h5 h6 strong em del code pre span a br hr blockquote table thead tbody tr th td input button svg path rect line polyline circle sup".split(
    " ",
  ),
);
const ATTRIBUTES =
  /^(?:class|dir|href|target|rel|title|type|disabled|checked|aria-[a-z]+|role|tabindex|id|scope|start|value|data-[a-z]+)$/i;

/** Every element and attribute that a text leaves, beside the icons' own. */
function check(markup: string): void {
  for (const [, name = "", attributes = ""] of markup.matchAll(/<([a-z][a-z0-9-]*)((?:\s[^<>]*?)?)\/?>/gi)) {
    expect(ELEMENTS, markup).toContain(name.toLowerCase());
    if (["svg", "path", "rect", "line", "polyline", "circle"].includes(name)) continue;
    for (const [, attribute = "", value = ""] of attributes.matchAll(/([a-z-]+)="([^"]*)"/gi)) {
      expect(attribute, markup).toMatch(ATTRIBUTES);
      if (attribute === "href") expect(value, markup).toMatch(/^(?:https?:|mailto:|#|\/(?![/\\]))/);
    }
  }
  for (const [link = ""] of markup.matchAll(/<a [^>]*target[^>]*>/g)) {
    expect(link).toContain('rel="noopener noreferrer"');
  }
}

const images = { workspace: () => null, remote: () => Promise.reject(new Error("must not be asked")) };

test.each(PAYLOADS)("%j leaves nothing that acts", (payload) => {
  for (const text of [payload, `Text ${payload} text`, `> - ${payload}`]) {
    check(renderToStaticMarkup(<Markdown text={text} />));
    check(renderToStaticMarkup(<Markdown text={text} open images={images} />));
    const growing = new IncrementalDocument();
    for (let end = 1; end <= text.length; end++) growing.grow(text.slice(0, end));
    check(renderToStaticMarkup(<Markdown text={text} images={images} />));
  }
});

test.each([
  ["brackets", "[".repeat(20_000)],
  ["markers", "[1".repeat(10_000)],
  ["dollars", "$a ".repeat(10_000)],
  ["formulas", "\\(".repeat(10_000)],
  ["displays", "\\[\n".repeat(5_000)],
  ["emphasis", "*a **b ".repeat(3_000)],
  ["quotes", "> ".repeat(300)],
])("%s in great number do not take long", (_, text) => {
  const begun = process.cpuUsage();
  renderToStaticMarkup(<Markdown text={text} />);
  new IncrementalDocument().grow(text);
  // Of the processor, and not of the clock: a busy machine proves nothing.
  expect(process.cpuUsage(begun).user).toBeLessThan(8_000_000);
});
