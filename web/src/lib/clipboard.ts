/** Puts a text on the clipboard, and the same with its looks where there is such a form. Says whether it went well. */
export async function copied(plain: string, html?: string): Promise<boolean> {
  return (await byClipboard(plain, html)) || byCommand(plain, html);
}

async function byClipboard(plain: string, html?: string): Promise<boolean> {
  try {
    if (html === undefined || !("ClipboardItem" in globalThis)) await navigator.clipboard.writeText(plain);
    else {
      const item = { "text/plain": new Blob([plain], { type: "text/plain" }) };
      const rich = { "text/html": new Blob([html], { type: "text/html" }) };
      await navigator.clipboard.write([new ClipboardItem({ ...item, ...rich })]);
    }
    return true;
  } catch {
    return false;
  }
}

/** Browsers have no clipboard for pages without TLS, which a server at home often is; the old command works there. */
function byCommand(plain: string, html?: string): boolean {
  let set = false;
  const fill = (event: ClipboardEvent) => {
    event.preventDefault();
    event.clipboardData?.setData("text/plain", plain);
    if (html !== undefined) event.clipboardData?.setData("text/html", html);
    set = true;
  };
  document.addEventListener("copy", fill, { once: true });
  document.execCommand("copy");
  document.removeEventListener("copy", fill);
  return set;
}
