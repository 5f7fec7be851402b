import { randomBytes } from 'node:crypto'
import { GazewayError } from '../errors.ts'

/** Made anew at each start, so that it tells nothing of the machine. */
const PROCESS = randomBytes(6).toString('hex')

/** What this process adds to the header `Via` of its requests to the upstream (RFC 9110, section 7.6.3). */
export const VIA = `1.1 gazeway-${PROCESS}`

/** What its platform adds to those that it passes on: they may well go to the gateway in this process. */
export const PLATFORM_VIA = `1.1 gazeway-platform-${PROCESS}`

/** Whether a request has been sent on by the service of this process that adds `mark`. */
export const cameThrough = (via: string | undefined, mark: string): boolean => via?.includes(mark) === true

/** Refuses to send a request on that has come round, and would for ever. @throws GazewayError `loop_detected` */
export function refuseLoop(via: string | undefined, mark: string): void {
  if (!cameThrough(via, mark)) return
  throw new GazewayError(
    'loop_detected',
    'This request has come through this Gazeway before. Check upstream.provider and agent_gateway.url: one of them leads back here.',
  )
}
