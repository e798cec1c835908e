import { useState } from "react";
import { useWords } from "../../../lib/i18n";
import { api } from "../../../protocol/client";
import { Button } from "../../../ui/Button";
import { Loading, NoView } from "./States";
import type { Shown } from "./versions";
import { words } from "./words";

/** An image, whole or at its own size, on squares that show where it is transparent. */
export function ImageView({ shown }: { shown: Shown }) {
  const t = useWords(words);
  const { sessionId, file, version } = shown;
  const [fit, setFit] = useState(true);
  const [size, setSize] = useState<{ width: number; height: number } | null>(null);
  const [failed, setFailed] = useState(false);
  if (failed) return <NoView shown={shown} why={t.imageFailed} />;
  return (
    <>
      <div className="files-table-bar">
        <Button small look="quiet" aria-pressed={fit} onClick={() => setFit(true)}>
          {t.fit}
        </Button>
        <Button small look="quiet" aria-pressed={!fit} onClick={() => setFit(false)}>
          {t.actual}
        </Button>
        {size && <span className="files-faint">{`${size.width} × ${size.height}`}</span>}
      </div>
      {/* biome-ignore lint/a11y/noNoninteractiveTabindex: what scrolls must be reached by the keyboard. */}
      <section className="files-image" data-fit={fit || undefined} tabIndex={0} aria-label={file.filename}>
        {size === null && <Loading />}
        <img
          src={api.rawUrl(sessionId, file.path, version.number)}
          alt={file.filename}
          onLoad={({ currentTarget }) => {
            setSize({ width: currentTarget.naturalWidth, height: currentTarget.naturalHeight });
          }}
          onError={() => setFailed(true)}
        />
      </section>
    </>
  );
}
