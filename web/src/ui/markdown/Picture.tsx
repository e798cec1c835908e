import { ImageIcon } from "lucide-react";
import { useContext, useEffect, useState } from "react";
import { useWords } from "../../lib/i18n";
import { Icon } from "../Icon";
import { hostOf, safeHref } from "../Link";
import { SettingContext } from "./context";
import { words } from "./words";

const HAS_SCHEME = /^(?:[a-z][a-z0-9+.-]*:|\/\/|\\)/i;

/** A picture of the workspace, or one of the web, which is asked for only by a click, and only from our own server. */
export function Picture({ url, alt, inLink }: { url: string; alt: string; inLink: boolean }) {
  const t = useWords(words);
  const { images } = useContext(SettingContext);
  const name = alt.trim();
  if (!images) return <>{name}</>;
  if (!HAS_SCHEME.test(url.trim())) {
    const own = images.workspace(url.trim());
    if (own === null) return <>{t.image(name)}</>;
    return <img className="md-picture" src={own} alt={name} loading="lazy" referrerPolicy="no-referrer" />;
  }
  const address = safeHref(url);
  // A link has no button in it.
  if (inLink || address === null || !/^https?:/.test(address)) return <>{t.image(name)}</>;
  return <RemotePicture key={address} address={address} alt={name} ask={images.remote} />;
}

interface RemoteProps {
  address: string;
  alt: string;
  ask(url: string): Promise<Blob>;
}

type Progress = { at: "asked" | "loading" | "failed" } | { at: "there"; url: string };

function RemotePicture({ address, alt, ask }: RemoteProps) {
  const t = useWords(words);
  const [progress, setProgress] = useState<Progress>({ at: "asked" });
  const shown = progress.at === "there" ? progress.url : null;
  useEffect(() => {
    if (shown !== null) return () => URL.revokeObjectURL(shown);
  }, [shown]);
  if (shown !== null) return <img className="md-picture" src={shown} alt={alt} />;
  const load = () => {
    setProgress({ at: "loading" });
    ask(address).then(
      (blob) => setProgress({ at: "there", url: URL.createObjectURL(blob) }),
      () => setProgress({ at: "failed" }),
    );
  };
  return (
    <span className="md-remote">
      <button type="button" className="md-remote-button" onClick={load} disabled={progress.at === "loading"}>
        <Icon of={ImageIcon} />
        {t.image(alt)} {progress.at === "loading" ? t.loading : t.load(hostOf(address))}
      </button>
      {progress.at === "failed" && (
        <span className="md-remote-failed" role="status">
          {t.failed}
        </span>
      )}
    </span>
  );
}
