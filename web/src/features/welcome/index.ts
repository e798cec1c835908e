import { Welcome } from "./Welcome";

export { Welcome };
