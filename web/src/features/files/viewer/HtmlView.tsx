import { Play, RotateCw, ShieldAlert, ShieldCheck, Square } from "lucide-react";
import { useId, useState } from "react";
import { useWords } from "../../../lib/i18n";
import { api } from "../../../protocol/client";
import { Button } from "../../../ui/Button";
import { Icon } from "../../../ui/Icon";
import { useFor } from "./loading";
import type { Shown } from "./versions";
import { words } from "./words";

/** A page that somebody or something wrote, with an origin of its own. Its scripts run only when they are told to: they
 * can fetch nothing, but no browser keeps them from WebRTC. */
export function HtmlView({ shown }: { shown: Shown }) {
  const t = useWords(words);
  const note = useId();
  const { sessionId, file, version } = shown;
  const [runs, setRuns] = useFor(`${sessionId} ${file.path} ${version.number}`, false);
  const [times, setTimes] = useState(0);
  const address = api.frameUrl(sessionId, file.path, version.number);
  return (
    <>
      <div className="files-html-note">
        <Icon of={runs ? ShieldAlert : ShieldCheck} />
        <p id={note}>{runs ? t.htmlRuns : t.htmlNote}</p>
        <Button small icon={runs ? Square : Play} aria-describedby={note} onClick={() => setRuns(!runs)}>
          {runs ? t.stopScripts : t.runScripts}
        </Button>
        {/* A page that went elsewhere, which the policy does not let it, has left nothing in the frame. */}
        <Button small icon={RotateCw} onClick={() => setTimes(times + 1)}>
          {t.reloadPreview}
        </Button>
      </div>
      <iframe
        key={`${runs} ${times}`}
        className="files-html"
        title={t.htmlTitle(file.filename)}
        sandbox={runs ? "allow-scripts" : ""}
        referrerPolicy="no-referrer"
        src={runs ? `${address}&scripts=true` : address}
      />
    </>
  );
}
