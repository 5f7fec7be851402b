import type { CallToolResult, ServerContext } from '@modelcontextprotocol/server'
import type { LoadedConfig } from '../../src/config/config.ts'
import type { Log } from '../../src/config/log.ts'
import type { Gateway } from '../../src/gateway.ts'
import { lazily } from '../../src/lazily.ts'
import { serviceStopping } from '../../src/wire/service-stopping.ts'
import { progressListener } from './progress.ts'
import { MAX_PAGE_BYTES, MAX_TOKENS } from './reply-limits.ts'
import { compileChecks } from './uncompiled.ts'
import { workingFolder } from './working-folder.ts'

/**
 * Runs a tool for a request.
 *
 * @param isOwnFault tells whether an unexpected error is a fault of Gazeway, to be logged; false while the request
 *   lacks its roots
 */
export type CallTool = (
  params: { name: string; arguments?: Record<string, unknown> | undefined },
  request: Pick<ServerContext['mcpReq'], 'signal' | '_meta' | 'notify'>,
  roots: () => Promise<readonly string[]>,
  isOwnFault: () => boolean,
) => Promise<CallToolResult>

/** Tool calls in progress. */
export interface CallsInFlight {
  callTool: CallTool
  /** Aborts the model calls in progress. Each tool call is answered with an error. */
  stop(): void
  /** Resolves once all calls have ended. */
  settled(): Promise<unknown>
}

/** Loads the tools with the first call, once: Node looks up a module's file with each `import()`. */
const loadTools = lazily(async () => {
  compileChecks()
  const [{ callTool }, { storeless }] = await Promise.all([
    import('./call-tool.ts'),
    import('../../src/storeless-gateway.ts'),
  ])
  return { callTool, storeless }
})

/** A controller that `signal` aborts too. Takes less time than AbortSignal.any. */
function abortedWith(signal: AbortSignal): AbortController {
  const controller = new AbortController()
  const abort = () => controller.abort(signal.reason)
  if (signal.aborted) abort()
  else signal.addEventListener('abort', abort, { once: true })
  return controller
}

/** Creates a runner of tools that can abort all calls in progress. */
export function createCallsInFlight(deps: {
  loaded: LoadedConfig
  log: Log
  gateway: () => Promise<Gateway>
}): CallsInFlight {
  const { loaded, log, gateway } = deps
  const inFlight = new Set<Promise<unknown>>()
  const endings = new Set<AbortController>()

  return {
    async callTool(params, request, roots, isOwnFault) {
      const ending = abortedWith(request.signal)
      endings.add(ending)
      const traceparent = request._meta?.traceparent
      const context = {
        surface: 'stdio' as const,
        callerId: null,
        signal: ending.signal,
        ...(typeof traceparent === 'string' ? { traceparent } : {}),
        ...progressListener(request),
        maxBytes: MAX_PAGE_BYTES,
        mostTokens: MAX_TOKENS,
        roots,
        projectRoot: async () => (await roots())[0] ?? workingFolder(),
      }
      const { callTool, storeless } = await loadTools()
      const call = callTool(
        params.name,
        params.arguments,
        gateway,
        context,
        (err) => {
          if (isOwnFault()) log.error('A tool failed.', { tool: params.name, err })
        },
        (fault) => storeless(loaded, fault),
      )
      inFlight.add(call)
      return call.finally(() => {
        inFlight.delete(call)
        endings.delete(ending)
      })
    },
    stop() {
      for (const ending of endings) ending.abort(serviceStopping())
    },
    settled: () => Promise.allSettled(inFlight),
  }
}
