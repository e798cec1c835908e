import { ChevronDown, Info } from "lucide-react";
import { useCallback, useMemo, useState } from "react";
import { size } from "../../../lib/format";
import { useLocale, useWords } from "../../../lib/i18n";
import { Spinner } from "../../../ui/Badge";
import { Button } from "../../../ui/Button";
import { Icon } from "../../../ui/Icon";
import { complain } from "../actions";
import { Lines } from "./Lines";
import { useLoaded } from "./loading";
import { NoText, PIECE_BYTES, type Piece, type Place, readPiece } from "./pieces";
import { DownloadButton, Failed, Loading, NoView } from "./States";
import type { Shown } from "./versions";
import { words } from "./words";

/** What is too long to be shown at once, from its beginning and as far as somebody wants to read. */
export function LongText({ shown }: { shown: Shown }) {
  const t = useWords(words);
  const { sessionId, file, version } = shown;
  const place = useMemo(
    (): Place => ({ sessionId, path: file.path, version: version.number, size: version.size }),
    [sessionId, file.path, version.number, version.size],
  );
  const load = useCallback(() => readPiece(place, 0), [place]);
  const { value, error, again } = useLoaded(load);
  if (error instanceof NoText) return <NoView shown={shown} why={t.noText} />;
  if (error !== undefined) return <Failed error={error} onRetry={again} shown={shown} />;
  if (!value) return <Loading />;
  return <Pieces key={`${file.path} ${version.number}`} shown={shown} place={place} first={value} />;
}

function Pieces({ shown, place, first }: { shown: Shown; place: Place; first: Piece }) {
  const t = useWords(words);
  const locale = useLocale();
  const [count, setCount] = useState(1);
  const [{ text, end }, setRead] = useState(first);
  const [busy, setBusy] = useState(false);
  const more = async () => {
    setBusy(true);
    try {
      const next = await readPiece(place, end);
      setRead({ text: text + next.text, end: next.end });
      setCount(count + 1);
    } catch (error) {
      complain(error instanceof NoText ? new Error(t.noMoreText) : error);
    }
    setBusy(false);
  };
  const isWhole = end >= place.size;
  return (
    <div className="files-scroll">
      {!isWhole && (
        <div className="ui-notice files-note">
          <Icon of={Info} />
          <span>{t.beginning(size(count * PIECE_BYTES, locale), size(place.size, locale))}</span>
          <DownloadButton shown={shown} />
        </div>
      )}
      <Lines text={text} language={null} />
      {!isWhole && (
        <div className="files-more">
          <Button icon={ChevronDown} aria-disabled={busy || undefined} onClick={() => !busy && void more()}>
            {busy && <Spinner />}
            {t.showMore}
          </Button>
        </div>
      )}
    </div>
  );
}
