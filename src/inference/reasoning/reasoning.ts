import type { Store } from '../../store/store.ts'
import type { Sweep } from '../../store/sweeps.ts'
import { objectsOrNone } from '../../text/lenient-reader.ts'
import type { Fields } from '../../text/typed-reader.ts'
import type { ReasoningState } from './reasoning-state.ts'
import { createReferences, isAnswer } from './references.ts'
import { isSealed, keyIdsIn, mayHaveSeals, openSeal, openText, seal, sealText } from './seal.ts'
import { createSealKeys } from './seal-keys.ts'
import { createStoredStates } from './stored-states.ts'

const SWEEP_MS = 3_600_000

/** Bond of sealed reasoning: it opens for the same three alone. */
export interface ReasoningBond {
  /** Key of the caller. Null without keys. */
  callerId: string | null
  /** Address of the upstream. */
  upstream: string
  /** Model id there. */
  model: string
}

/** Reasoning of one request and its answer, at one upstream and model. */
export interface CallReasoning {
  /**
   * Loads what the other methods need. Never rejects.
   *
   * @param request.text its JSON
   * @param request.messages its messages, for a chat request; messages of calls that came without their reasoning, for
   *   Responses. Null for other APIs
   * @param request.tools the tools that it offers
   * @param request.mayBringSummary true when it may bring back the summary of a conversation, for any upstream
   * @param carries true for a conversion, whose answers are sealed
   * @returns null when there is nothing to load
   */
  load(request: LoadedRequest, carries: boolean): Promise<void> | null
  /** Seals the state of an answer. Empty without a store. */
  seal(state: ReasoningState): string
  /** True when the request may bring back seals of Gazeway, true or forged. */
  mayBring(): boolean
  /** Opens a seal. Null for anything else, such as a forged seal, or that of another caller, upstream or model. */
  open(sealed: unknown): ReasoningState | null
  /** Seals the summary of a conversation, which opens for the same caller at any upstream. Empty without a store. */
  sealSummary(summary: string): string
  /** Opens a summary. Null for anything else, such as a forged seal, or that of another caller. */
  openSummary(sealed: unknown): string | null
  /** Keeps the state of an answer, for a client that may bring back only its text and its tool calls. */
  keep(message: Fields, state: ReasoningState): void
  /**
   * State that was kept for an assistant message of the request. Null without one.
   *
   * @param message of several calls, all of them; for Responses, the first one alone
   * @param before the message before it
   */
  kept(message: Fields, before: Fields | null): ReasoningState | null
}

/** A request whose reasoning is loaded. */
export interface LoadedRequest {
  text: string
  messages: unknown
  tools?: unknown
  mayBringSummary?: boolean
}

/** Carries the reasoning of providers to clients and back. */
export interface Reasoning {
  of(bond: ReasoningBond): CallReasoning
  sweeps: readonly Sweep[]
}

/** Reasoning of a call that is shown, and not carried. */
const UNCARRIED: CallReasoning = {
  load: () => null,
  seal: () => '',
  mayBring: () => false,
  open: () => null,
  sealSummary: () => '',
  openSummary: () => null,
  keep() {},
  kept: () => null,
}

/** Bond of the summaries of a caller. */
const summaryBond = ({ callerId }: ReasoningBond): string => JSON.stringify([callerId, 'summary'])

const NONE_FOUND: ReadonlyMap<string, string> = new Map()

/** Reasoning that is shown, and not carried: there is no store. */
export const SHOWN_ALONE: Pick<Reasoning, 'of'> = { of: () => UNCARRIED }

/**
 * Creates the carrier of reasoning.
 *
 * @param deps.keepDays setting `responses.keep_days`
 * @param deps.onError called when the store fails: calls go on, and reasoning is not carried
 */
export function createReasoning(deps: {
  store: Store
  now: () => Date
  keepDays: () => number
  onError: (error: unknown) => void
}): Reasoning {
  const keys = createSealKeys(deps)
  const states = createStoredStates(deps)
  const referenceOf = createReferences()

  function of(bond: ReasoningBond): CallReasoning {
    let written: string | undefined
    let body = ''
    let brings: boolean | undefined
    let found = NONE_FOUND
    /** Without tools, no model needs its reasoning back. */
    let hasTools = false
    /** The last message of the request, which the answer follows. */
    let asks: Fields | null = null

    /** The bond as text. Most calls need none. */
    function bound(): string {
      written ??= JSON.stringify([bond.callerId, bond.upstream, bond.model])
      return written
    }

    function mayBring(): boolean {
      brings ??= mayHaveSeals(body)
      return brings
    }

    const open = (sealed: unknown) => (isSealed(sealed) ? openSeal(sealed, bound(), keys.find) : null)

    function sealed(state: ReasoningState): string {
      const key = keys.current()
      return key === null ? '' : seal(key, state, bound())
    }

    const reference = (message: Fields, before: Fields | null) => referenceOf(bound, message, hasTools ? before : null)

    /** @param keyIds keys of the seals that the request brings */
    async function find(messages: readonly Fields[], keyIds: readonly string[]): Promise<void> {
      const isSought = await states.areAny()
      const references = isSought
        ? messages.flatMap((message, index) => reference(message, messages[index - 1] ?? null) ?? [])
        : []
      if (references.length > 0) found = await states.find(references)
      await keys.load([...keyIds, ...keyIdsIn([...found.values()].map((one) => `"${one}`).join())])
    }

    return {
      load({ text, messages, tools, mayBringSummary = false }, carries) {
        body = text
        const all = objectsOrNone(messages)
        hasTools = objectsOrNone(tools).length > 0
        asks = all.at(-1) ?? null
        const keyIds = carries && mayBring() ? keyIdsIn(text) : []
        if (all.some(isAnswer)) return find(all, keyIds)
        if (carries) return keys.load(keyIds)
        return mayBringSummary && mayBring() ? keys.load(keyIdsIn(text)) : null
      },
      mayBring,
      seal: sealed,
      open,
      sealSummary(summary) {
        const key = keys.current()
        return key === null ? '' : sealText(key, summary, summaryBond(bond))
      },
      openSummary: (one) => (isSealed(one) ? openText(one, summaryBond(bond), keys.find) : null),
      keep(message, state) {
        const named = reference(message, asks)
        if (named === null) return
        void states.keep(named, async () => {
          await keys.load([])
          return sealed(state)
        })
      },
      kept(message, before) {
        if (found.size === 0) return null
        return open(found.get(reference(message, before) ?? ''))
      },
    }
  }

  return {
    of,
    sweeps: [
      { name: 'reasoning.expired', everyMs: SWEEP_MS, batch: states.deleteOld },
      { name: 'reasoning.keys', everyMs: SWEEP_MS, batch: keys.deleteOld },
    ],
  }
}
