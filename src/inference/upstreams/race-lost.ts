import { GazewayError } from '../../errors.ts'

const OUTRUN = new Error('Another candidate has begun to answer.')

/** Error of an attempt that lost its race. */
export const raceLost = (): GazewayError =>
  new GazewayError('cancelled', 'Another candidate answered first, so this attempt was cancelled.', { cause: OUTRUN })

/** Tells whether an attempt was cancelled because another one answered first. */
export const isRaceLost = (error: Error | null): boolean => error !== null && error.cause === OUTRUN
