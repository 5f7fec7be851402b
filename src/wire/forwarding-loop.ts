import { randomBytes } from 'node:crypto'
import { GazewayError } from '../errors.ts'

/** Random per start, so that it reveals nothing about the machine. */
const PROCESS = randomBytes(6).toString('hex')

/** This process's entry in the `Via` header of requests to the upstream (RFC 9110, section 7.6.3). */
export const VIA = `1.1 gazeway-${PROCESS}`

/** The platform's entry in the requests it proxies. They may go to the gateway in this same process. */
export const PLATFORM_VIA = `1.1 gazeway-platform-${PROCESS}`

/**
 * Finds a loop.
 *
 * @returns the error for a request that the service of this process that adds `mark` has already forwarded; else null
 */
export function loopFault(via: string | undefined, mark: string): GazewayError | null {
  if (via?.includes(mark) !== true) return null
  return new GazewayError(
    'loop_detected',
    'This request has passed through this Gazeway before. Check upstream.provider and agent_gateway.url: one of them points back here.',
  )
}

/**
 * Rejects a request that this process has forwarded before, to break a loop.
 *
 * @throws GazewayError `loop_detected`
 */
export function refuseLoop(via: string | undefined, mark: string): void {
  const fault = loopFault(via, mark)
  if (fault !== null) throw fault
}
