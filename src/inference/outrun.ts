import { GazewayError } from '../errors.ts'

const OUTRUN = new Error('Another candidate has begun to answer.')

/** What a candidate fails with that was asked beside another, which answered first. */
export const outrun = (): GazewayError =>
  new GazewayError('cancelled', 'Another candidate answered first, and this one was given up.', { cause: OUTRUN })

/** Whether a candidate was given up because another one answered first. */
export const isOutrun = (error: Error | null): boolean => error !== null && error.cause === OUTRUN
