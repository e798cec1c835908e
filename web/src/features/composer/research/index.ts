export { Clarify, type ClarifyProps } from "./Clarify";
export { LimitChoices } from "./LimitChoices";
