import { GazewayError } from '../../errors.ts'

/**
 * Error for a request with a part that the protocol of its upstream cannot express.
 *
 * @param param the field, dotted
 * @param why reason, without the full stop
 */
export const unsupported = (param: string, why: string): GazewayError =>
  new GazewayError('invalid_request', `${param}: ${why}. No request was made.`, { param })
