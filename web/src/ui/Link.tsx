import type { ReactNode } from "react";

const OUTSIDE = new Set(["http:", "https:", "mailto:"]);

/** The address if it may be followed from here: the web, mail, and paths of this server. Null: it stays plain text. */
export function safeHref(href: string): string | null {
  const trimmed = href.trim();
  if (/^[/#]/.test(trimmed)) return /^\/[/\\]/.test(trimmed) ? null : trimmed;
  try {
    const url = new URL(trimmed);
    return OUTSIDE.has(url.protocol) ? url.href : null;
  } catch {
    return null;
  }
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
