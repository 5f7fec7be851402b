import { GazewayError } from '../../../src/errors.ts'

/** Creates the error for a reply of the agent gateway that did not arrive. It has no address, as customers read it. */
export function noReply(error: Error): GazewayError {
  if (error instanceof GazewayError) return error
  if ('code' in error && /^UND_ERR_\w*TIMEOUT$/.test(String(error.code)))
    return new GazewayError(
      'upstream_timeout',
      'The agent gateway did not answer in time. Retry, or raise agent_gateway.timeout_ms.',
      { cause: error },
    )
  return new GazewayError(
    'upstream_unreachable',
    'The agent gateway could not be reached. Check that it runs, and agent_gateway.url.',
    { cause: error },
  )
}
