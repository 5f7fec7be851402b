import type { Provider } from '../provider.ts'
import { isUsageRefused } from '../usage-request.ts'
import { bodyText } from './reply.ts'
import type { StreamReply, WholeReply } from './send.ts'

/**
 * The reply to a request for a stream and its usage; where that is refused, the reply to a request for the stream alone.
 *
 * @param model the provider's id
 * @param askPlainly sends the request without asking for usage
 * @throws as `askPlainly`
 */
export async function orWithoutUsage(
  reply: WholeReply,
  { usageRequests }: Provider,
  model: string,
  askPlainly: () => Promise<WholeReply | StreamReply>,
): Promise<WholeReply | StreamReply> {
  if (!isUsageRefused(reply.status, bodyText(reply))) return reply
  const plain = await askPlainly()
  if (plain.status < 400) usageRequests.leaveOut(model)
  return plain
}
