import { ChevronDown, History } from "lucide-react";
import { useState } from "react";
import { ago, moment, number, size } from "../../../lib/format";
import { useLocale, useWords, wordsNow } from "../../../lib/i18n";
import { api } from "../../../protocol/client";
import type { FileVersion } from "../../../protocol/events.gen";
import { toast } from "../../../state/toasts";
import { Button } from "../../../ui/Button";
import { Icon } from "../../../ui/Icon";
import { Menu } from "../../../ui/Menu";
import { complain, took } from "../actions";
import { Confirm } from "../Confirm";
import type { Shown, Versions } from "./versions";
import { words } from "./words";

/** Which version is looked at, who wrote it, and the others to choose from. */
export function VersionMenu({
  shown,
  all,
  onChoose,
}: {
  shown: Shown;
  all: readonly FileVersion[];
  onChoose: (n: number) => void;
}) {
  const t = useWords(words);
  const locale = useLocale();
  const { version } = shown;
  const facts = (one: FileVersion) => `${t[one.author]} · ${ago(one.created_at, locale)} · ${size(one.size, locale)}`;
  if (all.length < 2)
    return (
      <span className="files-faint" title={moment(version.created_at, locale)}>
        {facts(version)}
      </span>
    );
  const name = t.version(number(version.number, locale), number(all.length, locale));
  return (
    <Menu
      look="quiet"
      small
      icon={History}
      className="files-version"
      items={all.map((one) => ({
        key: String(one.number),
        text: t.versionShort(number(one.number, locale)),
        note: facts(one),
        checked: one.number === version.number,
        onChoose: () => onChoose(one.number),
      }))}
    >
      {`${name} · ${t[version.author]} · ${ago(version.created_at, locale)}`}
      <Icon of={ChevronDown} />
    </Menu>
  );
}

/** Says when what is seen is not what the file holds now, and offers the way there. */
export function VersionNotice({ shown, versions }: { shown: Shown; versions: Versions }) {
  const t = useWords(words);
  const locale = useLocale();
  const [restoring, setRestoring] = useState(false);
  if (shown.isNewest) return null;
  const name = number(shown.version.number, locale);
  return (
    <div className="ui-notice files-note" data-tone={versions.hasChanged ? "warn" : undefined} role="status">
      <Icon of={History} />
      <span>{versions.hasChanged ? t.changed : t.older(name)}</span>
      {!versions.hasChanged && shown.file.source === "generated" && (
        <Button small onClick={() => setRestoring(true)}>
          {t.restore}
        </Button>
      )}
      <Button small onClick={() => void versions.showNewest()}>
        {t.showNewest}
      </Button>
      {restoring && (
        <Confirm
          title={t.restoreQuestion(name)}
          verb={t.restoreVerb}
          harmless
          onClose={() => setRestoring(false)}
          onConfirm={() => {
            setRestoring(false);
            void restore(shown, versions);
          }}
        >
          {t.restoreMeans}
        </Confirm>
      )}
    </div>
  );
}

async function restore({ sessionId, file, version }: Shown, versions: Versions): Promise<void> {
  try {
    took(sessionId, await api.restore(sessionId, file.path, version.number, versions.newest?.hash ?? null));
    toast(wordsNow(words).restored(String(version.number)));
  } catch (error) {
    complain(error);
  }
  await versions.showNewest();
}
