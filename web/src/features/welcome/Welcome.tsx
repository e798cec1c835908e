import {
  BookOpen,
  FileText,
  Globe,
  type LucideIcon,
  MousePointerClick,
  Paperclip,
  ScanSearch,
  Telescope,
} from "lucide-react";
import { useState } from "react";
import { useWords } from "../../lib/i18n";
import { useStore } from "../../lib/store";
import { catalog } from "../../state/catalog";
import { ask } from "../../state/commands";
import { chooseWay } from "../../state/drafts";
import { toast } from "../../state/toasts";
import { openDialog } from "../../state/view";
import { CopyLine } from "../../ui/CopyLine";
import { Icon } from "../../ui/Icon";
import "./welcome.css";
import { words } from "./words";

/** The next question is answered by research. */
function research(): void {
  chooseWay(null, { mode: "research" });
  document.querySelector<HTMLElement>("[data-reach=composer]")?.focus();
}

/** A new conversation, before anything is asked. */
export function Welcome() {
  const t = useWords(words);
  const isKeyless = useStore(catalog, (known) => known.about?.keyless ?? false);
  return (
    <div className="welcome">
      <div className="welcome-inner">
        <header className="welcome-head">
          <h1 className="welcome-name">
            Footnote<sup className="welcome-mark">1</sup>
          </h1>
          <p className="welcome-promise">
            <sup className="welcome-mark">1</sup> {t.promise}
          </p>
        </header>
        {isKeyless && <Keyless />}
        <Examples />
        <ul className="welcome-tips" aria-label={t.tips}>
          <Tip icon={Paperclip} text={t.dropTip} />
          <Tip icon={FileText} text={t.reportTip} />
          <Tip icon={MousePointerClick} text={t.footnoteTip} />
        </ul>
      </div>
    </div>
  );
}

function Keyless() {
  const t = useWords(words);
  return (
    <section className="welcome-keyless" aria-labelledby="welcome-keyless">
      <h2 id="welcome-keyless" className="welcome-keyless-title">
        {t.keylessTitle}
      </h2>
      <p>{t.keyless}</p>
      <p>
        {t.addModel}{" "}
        <button type="button" className="welcome-link" onClick={() => openDialog("settings", "models")}>
          {t.otherWays}
        </button>
      </p>
      <CopyLine text="ANTHROPIC_API_KEY=… make serve" />
    </section>
  );
}

function Examples() {
  const t = useWords(words);
  const [isAsked, setAsked] = useState(false);
  const examples: [LucideIcon, string, string][] = [
    [Globe, t.oxygen, t.oxygenNote],
    [FileText, t.report, t.reportNote],
    [BookOpen, t.checking, t.docsNote],
    [BookOpen, t.bundle, t.docsNote],
  ];
  const begin = async (text: string) => {
    // A second click would ask a second question.
    if (isAsked) return;
    setAsked(true);
    try {
      await ask({ text, attachments: [] });
    } catch (error) {
      toast(error instanceof Error ? error.message : String(error), { tone: "error" });
    } finally {
      setAsked(false);
    }
  };
  return (
    <section aria-labelledby="welcome-examples">
      <h2 id="welcome-examples" className="welcome-heading">
        {t.examples}
      </h2>
      <ul className="welcome-examples">
        {examples.map(([icon, text, note]) => (
          <li key={text}>
            <button type="button" className="welcome-example" onClick={() => void begin(text)}>
              <Icon of={icon} />
              <span className="welcome-example-text">
                {text}
                <span className="welcome-example-note">{note}</span>
              </span>
            </button>
          </li>
        ))}
        <li>
          <button type="button" className="welcome-example" onClick={research}>
            <Icon of={Telescope} />
            <span className="welcome-example-text">
              {t.research}
              <span className="welcome-example-note">{t.researchNote}</span>
            </span>
          </button>
        </li>
        <li>
          <button type="button" className="welcome-example" onClick={() => openDialog("check")}>
            <Icon of={ScanSearch} />
            <span className="welcome-example-text">
              {t.checkText}
              <span className="welcome-example-note">{t.checkNote}</span>
            </span>
          </button>
        </li>
      </ul>
    </section>
  );
}

function Tip({ icon, text }: { icon: LucideIcon; text: string }) {
  return (
    <li className="welcome-tip">
      <Icon of={icon} />
      <span>{text}</span>
    </li>
  );
}
