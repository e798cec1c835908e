import { useWords } from "../../lib/i18n";
import { useStore } from "../../lib/store";
import { catalog } from "../../state/catalog";
import { closeDialog } from "../../state/view";
import { Dialog } from "../../ui/Dialog";
import { AboutSection } from "./About";
import { AccountSection } from "./Account";
import { LookSection } from "./Look";
import { ModelsSection } from "./Models";
import "./settings.css";
import { TokensSection } from "./Tokens";
import { UsersSection } from "./Users";
import { words } from "./words";

export function SettingsDialog() {
  const t = useWords(words);
  const isAdmin = useStore(catalog, ({ me }) => me?.role === "admin");
  return (
    <Dialog title={t.settings} onClose={closeDialog}>
      <div className="settings">
        <LookSection />
        <ModelsSection />
        <AccountSection />
        <TokensSection />
        {isAdmin && <UsersSection />}
        <AboutSection />
      </div>
    </Dialog>
  );
}
