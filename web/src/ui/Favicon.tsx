import { useState } from "react";
import "./ui.css";

const HUES = 12;

/** The sign of a site, from our own server; where there is none, its first letter. No third party learns what is read. */
export function Favicon({ domain, src }: { domain: string; src: string | null }) {
  const [failed, setFailed] = useState<string | null>(null);
  const letter = domain
    .replace(/^www\./, "")
    .charAt(0)
    .toUpperCase();
  if (src === null || failed === src)
    return (
      <span className="ui-favicon" aria-hidden="true" style={{ color: `hsl(${hue(domain)} 45% 50%)` }}>
        {letter || "?"}
      </span>
    );
  return (
    <span className="ui-favicon" aria-hidden="true">
      <img src={src} alt="" loading="lazy" referrerPolicy="no-referrer" onError={() => setFailed(src)} />
    </span>
  );
}

function hue(domain: string): number {
  const sum = [...domain].reduce((total, letter) => (total * 31 + (letter.codePointAt(0) ?? 0)) % 9973, 7);
  return (sum % HUES) * (360 / HUES);
}
