import { GazewayError } from '../../errors.ts'

const RACE_LOST = new Error('Another candidate has begun to answer.')

/** Error of an attempt that lost its race. */
export const raceLost = (): GazewayError =>
  new GazewayError('cancelled', 'Another candidate answered first, so this attempt was cancelled.', {
    cause: RACE_LOST,
  })

/** Tells whether an attempt was cancelled because another one answered first. */
export const isRaceLost = (error: Error | null): boolean => error !== null && error.cause === RACE_LOST
