import type { ReactNode } from "react";

const OUTSIDE = new Set(["http:", "https:", "mailto:"]);

const LOOPBACK = /^(localhost|127(\.\d+){3}|\[::1\])$/;

/** The address if it may be followed from here: the web and mail. Null: it stays plain text. What others have written must not
 * lead to this server, where a click does something in the reader's name (`/login?token=…`), nor hide a host behind a
 * user name (`https://bank.example@evil.example/`). */
export function safeHref(href: string): string | null {
  try {
    const url = new URL(href.trim());
    const isSafe = OUTSIDE.has(url.protocol) && url.username === "" && url.password === "" && !isOwn(url);
    return isSafe ? url.href : null;
  } catch {
    return null;
  }
}

/** This server has several names on its own machine, and may be reached over http and https. */
function isOwn({ hostname, port }: URL): boolean {
  const here = globalThis.location;
  if (!here || port !== here.port) return false;
  const host = hostname.replace(/\.$/, "");
  return host === here.hostname || (LOOPBACK.test(host) && LOOPBACK.test(here.hostname));
}

/** The host that a link really leads to, whatever its text says. */
export function hostOf(href: string): string {
  try {
    return new URL(href).host;
  } catch {
    return "";
  }
}

export function Link({ href, className, children }: { href: string; className?: string; children: ReactNode }) {
  const safe = safeHref(href);
  if (safe === null) return <span className={className}>{children}</span>;
  return (
    <a href={safe} className={className} target="_blank" rel="noopener noreferrer" title={hostOf(safe) || undefined}>
      {children}
    </a>
  );
}
