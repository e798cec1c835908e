import { useWords } from "../../lib/i18n";
import { closeDialog } from "../../state/view";
import { Dialog } from "../../ui/Dialog";
import { AboutSection } from "./About";
import { AccountSection } from "./Account";
import { LookSection } from "./Look";
import { ModelsSection } from "./Models";
import "./settings.css";
import { TokensSection } from "./Tokens";
import { words } from "./words";

export function SettingsDialog() {
  const t = useWords(words);
  return (
    <Dialog title={t.settings} onClose={closeDialog}>
      <div className="settings">
        <LookSection />
        <ModelsSection />
        <AccountSection />
        <TokensSection />
        <AboutSection />
      </div>
    </Dialog>
  );
}
