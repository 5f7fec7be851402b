import { join } from 'node:path'
import { installPortkey, portkeyHeaders, startPortkey } from './http-portkey.ts'
import type { Running } from './http-process.ts'
import { installRouter, startRouter } from './http-router.ts'
import { KEY, startGazeway, type Target, targetOf } from './http-targets.ts'

/** Path of Anthropic's Messages. */
export const MESSAGES = '/v1/messages'

/** Messages passed on and converted, and chats; claude-code-router converts Messages, Portkey passes chats on. */
export interface MessagesTargets {
  passed: Target
  converted: Target
  chat: Target
  router: Target
  Portkey: Target
}

/** Starts the gateway and its peers before one upstream. */
export async function openMessagesPeers(
  folder: string,
  upstream: Running,
): Promise<{ targets: MessagesTargets; stop(): Promise<void> }> {
  installPortkey()
  installRouter()
  const speaking = await startGazeway(join(folder, 'speaking'), upstream, { protocol: 'anthropic' })
  const converting = await startGazeway(join(folder, 'converting'), upstream)
  const router = await startRouter(join(folder, 'router'), upstream, KEY)
  const portkey = await startPortkey()
  return {
    targets: {
      passed: targetOf(speaking, {}, MESSAGES),
      converted: targetOf(converting, {}, MESSAGES),
      chat: targetOf(converting),
      router: targetOf(router, { 'x-api-key': KEY }, MESSAGES),
      Portkey: targetOf(portkey, portkeyHeaders(upstream)),
    },
    async stop() {
      await Promise.all([speaking, converting, router, portkey].map((server) => server.stop()))
    },
  }
}
