import { type Agent, createAgent } from './agent/agent.ts'
import { type Alerts, createAlerts } from './alerts/alerts.ts'
import type { CallContext } from './calls/call-record.ts'
import { type Calls, createCalls } from './calls/calls.ts'
import { callSweeps } from './calls/retention.ts'
import { type Chain, createChain, type OnConfirmed } from './chain/chain.ts'
import { movingToken } from './chain/moving-token.ts'
import { createWithdrawals, type Withdrawals } from './chain/withdrawals.ts'
import type { LoadedConfig } from './config/config.ts'
import type { LiveConfig } from './config/live-config.ts'
import type { Log } from './config/log.ts'
import { openConfig } from './config/open-config.ts'
import { redactText } from './config/redact.ts'
import { connectionSweeps } from './connections/connections.ts'
import { createAllowRoot } from './context/allowed-root.ts'
import { type Caller, type ContextInput, createContext, type SentContext, type WorkContext } from './context/context.ts'
import { type Conversations, createConversations } from './conversations/conversations.ts'
import { GazewayError } from './errors.ts'
import { createEscrows, type Escrows } from './escrow/escrow.ts'
import type { ExplainedGaze, ExplainGaze } from './gaze/explained.ts'
import { createGaze, type Gaze } from './gaze/gaze.ts'
import { NO_NARRATIVE, narrate } from './gaze/narrate.ts'
import { gazeSweeps } from './gaze/prune.ts'
import { createIdempotency, type Idempotency } from './idempotency/idempotency.ts'
import { createGroups, type Groups } from './identity/groups.ts'
import { createKeys, type Keys } from './identity/keys.ts'
import type { SpendOf } from './identity/spend.ts'
import { createCallRates } from './inference/admit/call-rates.ts'
import { createRefusals, type NoteRefusal } from './inference/admit/refusals.ts'
import { followingUpstream } from './inference/follow-config.ts'
import { createUpstream, type Upstream } from './inference/inference.ts'
import { createLiveness, type Liveness } from './inference/status/liveness.ts'
import { watchRecentCalls } from './inference/status/recent-calls.ts'
import { type ShownUpstream, upstreamStates } from './inference/status/upstream-states.ts'
import { keepHealth } from './inference/upstreams/health.ts'
import { namedConfigs } from './inference/upstreams/upstream-configs.ts'
import { createMemory, endSpace, type Memories, memoryOwner } from './memory/memory.ts'
import { createVectorSearch } from './memory/vectors/vector-search.ts'
import { createMetering, type Metering } from './metering/metering.ts'
import { createResearch, type Research } from './research/research.ts'
import { createSessions, type Sessions } from './sessions/sessions.ts'
import { createSkills, type Skills } from './skills/skills.ts'
import { openStoreClock } from './store/clock.ts'
import { openStore } from './store/open-store.ts'
import type { Page, Paged } from './store/page.ts'
import type { Store } from './store/store.ts'
import type { Sweep } from './store/sweeps.ts'
import { createSwarm, type Swarm } from './tasks/swarm.ts'
import { createTasks, type Tasks } from './tasks/tasks.ts'
import { homeFolder } from './text/home-folder.ts'
import { type Micros, toMicros, toUsd } from './text/money.ts'
import { createTokenCounter } from './text/token-counter.ts'
import { writeCallSpending } from './wallet/budget/allowances.ts'
import { createLimits, type LimitsOf } from './wallet/budget/limits.ts'
import { createOverruns, type Overruns } from './wallet/budget/overruns.ts'
import { createReservations } from './wallet/budget/reservations.ts'
import { spendOf } from './wallet/budget/spending.ts'
import { type Burn, burnList, burnTerms } from './wallet/burn/burn.ts'
import { bindWallet, unbindWallet } from './wallet/ledger/bind-wallet.ts'
import { createCharges } from './wallet/receipts/charges.ts'
import { createWallet, type Wallet } from './wallet/wallet.ts'
import { inTime } from './wire/in-time.ts'

/** Newest gaze records that an attestation assesses. */
const ATTESTED_RECORDS = 1000
/** Shortest time span of a session's records for an assessment, in milliseconds. */
const ATTESTED_DURATION_MS = 5000
/** Most recently seen places that the work context ranks. */
const WEIGHED_PLACES = 2000
/** Time limit for writing queued records when a gateway closes, in milliseconds. */
const CLOSE_MS = 10_000

/** Services for tools and routes, wired once per process. */
export interface Gateway {
  /** Configuration in force. Values read at the time of use follow every change. */
  readonly loaded: LoadedConfig
  /** Changes the configuration and reports changes. */
  config: LiveConfig
  log: Log
  store: Store
  memory: Memories
  gaze: Gaze & {
    /**
     * Analyses gaze, with a narrative when one is wanted and an upstream can write it. `visibleTo` restricts it to
     * records stored by that key.
     */
    explain(query: ExplainGaze, context: CallContext, visibleTo?: string): Promise<ExplainedGaze>
  }
  context: {
    /**
     * Work context of a project.
     *
     * @throws see `createContext`
     */
    get(input: ContextInput, declaredRoots: readonly string[], caller?: Caller): Promise<WorkContext>
    /** Work context as text for a model. */
    text(
      input: ContextInput,
      declaredRoots: readonly string[],
      caller?: Caller,
    ): Promise<{ text: string; tokens: number }>
    /**
     * Part of the work context that is sent with a question to a model elsewhere.
     *
     * @throws see `createContext`
     */
    toSend(
      input: ContextInput & { query: string },
      declaredRoots: readonly string[],
      caller?: Caller,
    ): Promise<SentContext>
  }
  calls: Calls
  /** Records a call refused before any upstream was called. */
  noteRefusal: NoteRefusal
  upstream: Upstream
  /** Health of the upstreams. */
  liveness: Liveness
  /** State of the upstreams, for operators. */
  upstreamStates(): Promise<ShownUpstream[]>
  research: Research
  /** Conversations through the tools, which can be continued. */
  conversations: Conversations
  keys: Keys
  /** Groups of keys that share budgets. */
  groups: Groups
  idempotency: Idempotency
  wallet: Wallet
  /**
   * Keys and groups by the time until their budgets run out.
   *
   * @throws see `burnList`
   */
  burn(query: Paged): Promise<Page<Burn>>
  /** Budget alerts. */
  alerts: Alerts
  metering: Metering
  /** Charged calls that cost more than their reservation. */
  overruns: Overruns
  chain: Chain
  escrows: Escrows
  withdrawals: Withdrawals
  /** Records the final payment of an escrow or withdrawal on a chain. For `Chain.startSettling`. */
  settled: OnConfirmed
  tasks: Tasks
  swarm: Swarm
  skills: Skills
  sessions: Sessions
  agent: Agent
  /** Sweeps of all rooms, for `startSweeps`. */
  sweeps: readonly Sweep[]
  /** Estimates the tokens of a text, when no provider reports them. */
  countTokens(text: string): Promise<number>
  /**
   * Writes the queue and closes the store, within 10 s.
   *
   * @throws GazewayError `store_unavailable` with the number of call records that could not be written
   */
  close(): Promise<void>
}

/** Time after which a store that is slow to open is reported. */
const OPENED_WITHIN_MS = 5_000

async function openedInTime(url: string, log: Log): Promise<Store> {
  const slow = setTimeout(
    () =>
      log.warn(
        'The store is slow to open. It may be unreachable, locked, or migrating, here or in another process; a large store takes minutes to migrate.',
      ),
    OPENED_WITHIN_MS,
  )
  try {
    return await openStore(url)
  } finally {
    clearTimeout(slow)
  }
}

/**
 * Opens the store and wires the services.
 *
 * @throws GazewayError `store_unavailable`, `store_corrupt`, `store_too_new` or `config_invalid`
 */
export async function createGateway(read: LoadedConfig, log: Log): Promise<Gateway> {
  const store = await openedInTime(read.storeUrl, log)
  const clock = await openStoreClock(store, {
    onError: (err) => log.warn("Failed to read the store's clock; deadlines use its last known offset.", { err }),
  }).catch(async (error) => {
    await store.close()
    throw error
  })
  const { now } = clock
  const live = await openConfig(read, store, log).catch(async (error) => {
    clock.stop()
    await store.close()
    throw error
  })
  const loaded = live.current()
  const { config } = loaded
  const countTokens = createTokenCounter()
  const memory = createMemory({
    store,
    now,
    vectors: () => vectors.now().of,
    trustedWriters: () => live.current().config.memory.trusted_writers,
  })
  const calls = createCalls({
    store,
    onError: (err) => log.error('Failed to write call records.', { err }),
    writeSpending: writeCallSpending,
    idOf: (model) => upstream.idOf(model),
  })
  const spent: SpendOf = (ids, at) => spendOf(store.db, ids, at)
  const keys = createKeys({
    store,
    now,
    fixedKey: config.identity.api_key,
    billing: () => live.current().config.wallet.billing,
    spendOf: spent,
    onChanged: (id) => limits.forget(id),
    onBound: bindWallet,
    onUnbound: unbindWallet,
    onEnded: endSpace,
    dataDir: loaded.dataDir,
    onError: (err) => log.error('Failed to read or record keys.', { err }),
  })
  const groups = createGroups({ store, now, spendOf: spent, onChanged: keys.groupChanged })
  const idempotency = createIdempotency({
    store,
    now,
    onError: (err) => log.error('Failed to record the outcome of an idempotency key.', { err }),
  })
  live.onChange(({ config: { identity } }) => keys.setFixedKey(identity.api_key))
  const hasFixedKey = () => live.current().config.identity.api_key !== null
  const overruns = createOverruns()
  overruns.listen(({ callId, callerId, model, reservedMicros, costMicros }) =>
    log.warn('A call cost more than was reserved for it; the difference is not charged.', {
      call_id: callId,
      caller_id: callerId,
      model,
      reserved_usd: toUsd(reservedMicros),
      cost_usd: toUsd(costMicros),
    }),
  )
  // Chains and payments only change with a restart.
  const priced = (pricing: LoadedConfig['config']['pricing']) => ({
    ...pricing,
    ...movingToken({ ...config, pricing }),
  })
  const reservations = createReservations({
    store,
    now,
    onError: (err) => log.error('Failed to release reserved money; will retry.', { err }),
  })
  const noteRefusal = createRefusals({ calls, upstream: () => upstream.provider.name, now })
  const billing = {
    identity: keys.identity,
    rates: createCallRates(),
    reservations,
    charge: createCharges(store),
    noteRefusal,
    onOverrun: overruns.report,
    now,
  }
  const healthOf = keepHealth()
  const upstreams = live.follow(
    ({ upstream, upstreams, routes, pricing, audit, wallet }) => ({
      config: upstream,
      upstreams,
      routes,
      prices: pricing,
      storeContent: audit.store_content,
      wallet,
    }),
    ({ wallet, upstreams, ...settings }) =>
      createUpstream({
        ...settings,
        named: namedConfigs({ upstream: settings.config, upstreams }),
        healthOf,
        calls,
        countTokens,
        billing: {
          ...billing,
          pricing: priced(settings.prices),
          defaultCreditMicros: toMicros(wallet.default_credit_limit_usd) as Micros,
          maxOutputTokens: wallet.max_output_tokens,
          searchTokens: wallet.search_tokens,
        },
      }),
  )
  const upstream = followingUpstream(upstreams)
  const liveness = createLiveness({ routing: () => upstream.routing, calls })
  const recent = watchRecentCalls(calls)
  const vectors = live.follow(
    ({ memory }) => memory.embeddings,
    ({ model, ...settings }) => ({
      of:
        model === null
          ? null
          : createVectorSearch({
              store,
              settings: { model, ...settings },
              ask: (of, context) => upstream.embed(of, context),
              now: () => now().toISOString(),
              onError: (err) => log.warn('Failed to embed memories; will retry.', { err }),
            }),
    }),
  )
  const { always: limits } = live.follow(
    ({ wallet }) => toMicros(wallet.default_credit_limit_usd) as Micros,
    (defaultCredit) => createLimits(store, defaultCredit),
  )
  const limitsOf: LimitsOf = (callerId) => limits.of(callerId)
  const wallet = live.follow(
    ({ pricing }) => pricing,
    (pricing) =>
      createWallet({
        pricing: priced(pricing),
        store,
        now,
        limitsOf,
        hasFixedKey,
        onOverrun: overruns.report,
        giveBackIdle: reservations.giveBackIdle,
      }),
  ).always
  const alerts = createAlerts({
    store,
    now,
    webhook() {
      const { webhook_url: url, webhook_secret: secret } = live.current().config.alerts
      return url === null || secret === null ? null : { url, secret }
    },
    onGivenUp: ({ id, owner, error }) =>
      log.error('Failed to deliver an alert; will not retry.', { alert_id: id, owner, reason: error }),
  })
  const metering = live.follow(
    ({ wallet, pricing, upstream, upstreams, routes, audit }) => ({
      config: wallet,
      pricing,
      with: [upstream, upstreams, routes, audit.store_content],
    }),
    (settings) =>
      createMetering({
        config: settings.config,
        pricing: priced(settings.pricing),
        holds: wallet.holds,
        // Not the following one: a call ends on the upstream, and at the prices, that its money was reserved for.
        upstream: upstreams.now(),
        countTokens,
        now,
        onError: (err) => log.error('Failed to release reserved money; will retry.', { err }),
      }),
  ).always
  const gaze = live.follow(
    ({ gaze: { min_score, records_needed, max_age_seconds } }) => ({
      minScore: min_score,
      recordsNeeded: records_needed,
      maxAgeSeconds: max_age_seconds,
      windowRecords: ATTESTED_RECORDS,
      minDurationMs: ATTESTED_DURATION_MS,
    }),
    (terms) => createGaze({ store, config: terms, now }),
  ).always
  const chain = createChain({
    store,
    config,
    now,
    onError: (err) => log.error('Failed to process settlements; will retry.', { err }),
  })
  const verifier: Gaze['verifier'] = {
    check: (db, of) => gaze.verifier.check(db, of),
    use: (trx, of) => gaze.verifier.use(trx, of),
  }
  const escrows = createEscrows({
    store,
    now,
    limitsOf,
    settlements: chain.settlements,
    verifier,
    hasFixedKey,
    token: (mode) => movingToken({ ...config, pricing: live.current().config.pricing }, mode).token,
  })
  const withdrawals = createWithdrawals({
    store,
    settlements: chain.settlements,
    now,
    token: () => movingToken({ ...config, pricing: live.current().config.pricing }, 'evm').token,
  })
  const tasks = createTasks({ store, now, escrows, verifier })
  const context: Gateway['context'] = createContext({
    dwell: (query) => gaze.dwell({ ...query, limit: WEIGHED_PLACES }),
    async memories({ query, reader, ...of }) {
      const memories = memory.of(null, reader)
      if (query === undefined) return memories.newest(of)
      return (await memories.related({ query, ...of })).results.map((result) => result.memory)
    },
    onStoreFault: (err) => log.warn('Built a work context without attention and memories.', { err }),
    allowRoot: createAllowRoot({
      configured: () => live.current().config.context.roots,
      workingDirectory: () => process.cwd(),
      homeFolder,
    }),
    countTokens,
    now,
    dataFolder: loaded.dataDir,
  })
  const conversations = createConversations({
    store,
    now,
    onError: (err) => log.warn('Failed to store an answer in its conversation.', { err }),
  })
  const sessions = createSessions({
    store,
    now,
    chatModel: () => upstream.provider.resolve(undefined, 'chat').requested,
  })
  const memoriesOf = async (keyId: string) => {
    const key = await keys.find(keyId)
    return key === null ? keyId : memoryOwner(key)
  }
  const hide = (text: string) => redactText(text, live.current().secrets)

  async function finish(): Promise<void> {
    clock.stop()
    await vectors.now().of?.stop()
    // In parallel: records must not wait for a table that another process locks.
    const written = calls.flush()
    const ends = await Promise.allSettled([written, written.then(reservations.close), keys.close(), live.close()])
    await store.close()
    for (const end of ends) if (end.status === 'rejected') throw end.reason
  }

  return {
    get loaded() {
      return live.current()
    },
    config: live,
    log,
    store,
    memory,
    gaze: Object.assign(gaze, {
      async explain({ question, narrate: wanted, ...range }, callContext, visibleTo) {
        const analysis = await gaze.analyze(range, visibleTo)
        if (!wanted) return { ...analysis, ...NO_NARRATIVE }
        const narrative = await narrate(analysis, question, async (system, user) => {
          const messages = [
            { role: 'system' as const, content: system },
            { role: 'user' as const, content: user },
          ]
          const { value, callId } = await upstream.chat({ messages }, callContext)
          const message = value.choices[0]?.message
          return { text: message?.content || message?.refusal || '', callId }
        })
        return { ...analysis, ...narrative }
      },
    } satisfies Pick<Gateway['gaze'], 'explain'>),
    context,
    calls,
    noteRefusal,
    upstream,
    liveness,
    upstreamStates: () =>
      upstreamStates({ routing: upstream.routing, liveness, recent, relaysOf: (of) => upstream.relaysOf(of) }),
    research: createResearch({ upstream, workContext: context.toSend, conversations }),
    conversations,
    keys,
    groups,
    idempotency,
    wallet,
    burn(query) {
      const { config } = live.current()
      return burnList({ store, now, ...burnTerms(config) }, query)
    },
    alerts,
    metering,
    overruns,
    chain,
    escrows,
    withdrawals,
    async settled(trx, settlement) {
      if (!(await withdrawals.settled(trx, settlement))) await escrows.settled(trx, settlement)
    },
    tasks,
    swarm: createSwarm({ upstream, balances: (id) => wallet.balances(id), escrows, createGraph: tasks.createGraph }),
    sessions,
    agent: createAgent({ sessions, memory, memoriesOf, gaze, upstream, countTokens, hide, now }),
    skills: createSkills({ config: () => live.current().config.skills, dataDir: loaded.dataDir }),
    sweeps: [
      ...callSweeps(store, now, () => live.current().config.audit.retention_days),
      ...gazeSweeps(store, now, () => live.current().config.gaze.retention_days),
      ...connectionSweeps(store, now),
      ...[memory, conversations, idempotency, wallet, alerts, tasks, escrows].flatMap((room) => room.sweeps),
    ],
    countTokens,
    async close() {
      const fault = await inTime(
        CLOSE_MS,
        finish().then(
          () => undefined,
          (error: unknown) => error,
        ),
      )
      if (calls.waiting() > 0) throw unwritten(calls.waiting(), fault)
      if (fault !== undefined) throw fault
    },
  }
}

function unwritten(records: number, cause: unknown): GazewayError {
  const why = cause instanceof Error ? cause.message : `the store did not accept them within ${CLOSE_MS / 1000} s.`
  return new GazewayError('store_unavailable', `${records} of the call records could not be written: ${why}`, { cause })
}
