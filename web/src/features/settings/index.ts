import { SettingsDialog } from "./SettingsDialog";
import { ShortcutsDialog } from "./ShortcutsDialog";

export { SettingsDialog, ShortcutsDialog };
