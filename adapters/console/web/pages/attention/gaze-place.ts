import type { GazeTensor } from '../../../../../src/gaze/tensor.ts'

/** Place of a record: a file, an address or a program. */
export const placeOf = ({ env }: Pick<GazeTensor, 'env'>): string => env.path ?? env.url ?? env.app ?? 'no place named'
