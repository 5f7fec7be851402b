import { GazewayError } from '../../errors.ts'

/** A refusal that may pass: calls in flight hold what this one needs, and give back what they do not use. */
export class HeldByOthers extends GazewayError {}
