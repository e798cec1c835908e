export { CheckDialog } from "./CheckDialog";
