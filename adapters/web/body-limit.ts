import { GazewayError } from '../../src/errors.ts'
import type { Gateway } from '../../src/gateway.ts'
import type { BufferedBytes } from '../../src/wire/buffered-bytes.ts'

/** Limits of a request body that is read into memory. */
export interface BodyLimit {
  /** Maximum size of this body. */
  bytes: number
  /** Setting with that size. */
  setting: string
  /** Id of the caller's key; null without one. */
  callerId: string | null
  /** Limits all bodies together. The service gives the bytes back at the end of the request. Null: not counted. */
  buffered: BufferedBytes | null
}

type Limited = Pick<Gateway, 'loaded' | 'buffered'>

/** Limits of an ordinary body. */
export const bodyLimit = ({ loaded, buffered }: Limited, callerId: string | null): BodyLimit => ({
  bytes: loaded.config.http.max_body_bytes,
  setting: 'http.max_body_bytes',
  callerId,
  buffered,
})

/** Limits of a body below `/v1`, which may hold images, recordings and long conversations. */
export const modelBodyLimit = ({ loaded, buffered }: Limited, callerId: string | null): BodyLimit => ({
  bytes: loaded.config.http.max_model_body_bytes,
  setting: 'http.max_model_body_bytes',
  callerId,
  buffered,
})

/** Error for a body above its limit. */
export const tooLarge = ({ bytes, setting }: Pick<BodyLimit, 'bytes' | 'setting'>): GazewayError =>
  new GazewayError('payload_too_large', `The body is larger than ${bytes} bytes (${setting}).`)
