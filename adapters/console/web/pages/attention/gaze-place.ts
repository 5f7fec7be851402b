import type { GazeTensor } from '../../../../../src/gaze/tensor.ts'

/** The place that a record was on: a file, an address or a program. */
export const placeOf = ({ env }: Pick<GazeTensor, 'env'>): string => env.path ?? env.url ?? env.app ?? 'no place named'
