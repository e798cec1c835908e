import { useState } from "react";
import { type Locale, localeOfBrowser, useWords } from "../../lib/i18n";
import { useStore } from "../../lib/store";
import { prefer, preferences, type Theme } from "../../state/preferences";
import { Section } from "./Section";
import { Segments } from "./Segments";
import { words } from "./words";

const LANGUAGES: Record<Locale, string> = { en: "English", vi: "Tiếng Việt", zh: "中文" };
const TAGS: Record<Locale, string> = { en: "en", vi: "vi", zh: "zh-Hans" };

/** How the page looks and speaks on this browser. */
export function LookSection() {
  const t = useWords(words);
  const { theme, locale } = useStore(preferences);
  const languages = Object.entries(LANGUAGES) as [Locale, string][];
  return (
    <Section title={t.page}>
      <Segments<Locale | "browser">
        label={t.language}
        value={locale ?? "browser"}
        options={[
          { value: "browser", text: t.ofBrowser(LANGUAGES[localeOfBrowser()]) },
          ...languages.map(([value, text]) => ({ value, text, lang: TAGS[value] })),
        ]}
        onChoose={(value) => prefer({ locale: value === "browser" ? null : value })}
      />
      <Segments<Theme>
        label={t.theme}
        value={theme}
        options={[
          { value: "system", text: t.system },
          { value: "light", text: t.light },
          { value: "dark", text: t.dark },
        ]}
        onChoose={(value) => prefer({ theme: value })}
      />
      <Notifications />
    </Section>
  );
}

/** The browser asks for permission, and only after a click: so asked, people know why. */
function Notifications() {
  const t = useWords(words);
  const isWanted = useStore(preferences, (liked) => liked.notify);
  const [permission, setPermission] = useState<NotificationPermission | "none">(
    "Notification" in globalThis ? Notification.permission : "none",
  );
  const change = async (wanted: boolean) => {
    if (!wanted || permission === "none") {
      prefer({ notify: false });
      return;
    }
    const given = permission === "default" ? await Notification.requestPermission() : permission;
    setPermission(given);
    prefer({ notify: given === "granted" });
  };
  const refusal = { none: t.notifyNever, denied: t.notifyDenied, default: null, granted: null }[permission];
  return (
    <div>
      <label className="settings-check">
        <input
          type="checkbox"
          checked={isWanted && permission === "granted"}
          disabled={permission === "none" || permission === "denied"}
          onChange={(event) => void change(event.target.checked)}
        />
        <span>{t.notify}</span>
      </label>
      <p className="settings-note" role="status">
        {refusal ?? t.notifyNote}
      </p>
    </div>
  );
}
