import { GazewayError } from '../../errors.ts'

/**
 * The refusal of a request whose upstream speaks the other protocol, which has nothing for a part of it.
 *
 * @param param the field, dotted
 * @param why in words; a full stop follows
 */
export const unsupported = (param: string, why: string): GazewayError =>
  new GazewayError('invalid_request', `${param}: ${why}. No request was made.`, { param })
