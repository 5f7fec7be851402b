import { type Agent, createAgent } from './agent/agent.ts'
import { type Alerts, liveAlerts } from './alerts/alerts.ts'
import { type Base, openBase } from './base.ts'
import { type LiveCalls, liveCalls } from './calls/calls.ts'
import { type Chain, liveChain, type OnConfirmed } from './chain/chain.ts'
import { liveWithdrawals, type Withdrawals } from './chain/withdrawals.ts'
import { type CodingSessions, liveCodingSessions } from './coding-sessions/coding-sessions.ts'
import type { LoadedConfig } from './config/config.ts'
import type { Log } from './config/log.ts'
import { connectionSweeps } from './connections/connections.ts'
import { type Context, liveContext } from './context/context.ts'
import { type Conversations, liveConversations } from './conversations/conversations.ts'
import { type KeptResponses, liveKeptResponses } from './conversations/kept-responses.ts'
import { GazewayError } from './errors.ts'
import { type Escrows, liveEscrows } from './escrow/escrow.ts'
import { type Erased, forgetCaller, forgetSweep } from './forget/forget.ts'
import { type LiveGaze, liveGaze } from './gaze/gaze.ts'
import { type Idempotency, liveIdempotency } from './idempotency/idempotency.ts'
import { createGroups, type Groups } from './identity/groups.ts'
import { type Keys, liveKeys } from './identity/keys.ts'
import type { Upstream } from './inference/inference.ts'
import { type LiveInference, liveInference } from './inference/live-inference.ts'
import { endSpace, liveMemory, type Memories } from './memory/memory.ts'
import { liveMetering, type Metering } from './metering/metering.ts'
import { createProjects, type Projects } from './projects/projects.ts'
import { billSweeps } from './reconcile/keep-bills.ts'
import { openRemote, type Remote } from './remote/remote.ts'
import { createResearch, type Research } from './research/research.ts'
import { liveReviewVerifier } from './review/review-verifier.ts'
import { liveReviews, type Reviews } from './review/reviews.ts'
import { liveSessions, type Sessions } from './sessions/sessions.ts'
import { createSkills, type Skills } from './skills/skills.ts'
import { spaceSweep } from './store/free-space.ts'
import type { Sweep } from './store/sweeps.ts'
import { createSwarm, type Swarm } from './tasks/swarm.ts'
import { liveTasks, type Tasks } from './tasks/tasks.ts'
import { createTokenCounter } from './text/token-counter.ts'
import { writeRecorded } from './wallet/receipts/store-receipts.ts'
import { type LiveJournal, type LiveWallet, liveWallet, type Wallet } from './wallet/wallet.ts'
import { type BufferedBytes, createBufferedBytes } from './wire/buffered-bytes.ts'
import { inTime } from './wire/with-timeout.ts'

/** Time limit for writing queued records when a gateway closes, in milliseconds. */
const CLOSE_MS = 10_000

/** Services for tools and routes, wired once per process. */
export interface Gateway
  extends Omit<Base, 'now'>,
    Pick<LiveInference, 'noteRefusal' | 'liveness' | 'upstreamStates' | 'withUpstreamsOf'>,
    Pick<LiveWallet, 'burn' | 'overruns' | 'absorbedCalls'> {
  /** Configuration in force. Values read at the time of use follow every change. */
  readonly loaded: LoadedConfig
  memory: Memories
  gaze: LiveGaze
  context: Context
  /** The projects that memories are about. */
  projects: Projects
  /** Another Gazeway whose memories and audit trail are used in place of the store's; null without one. */
  remote: Remote | null
  calls: LiveCalls
  codingSessions: CodingSessions
  upstream: Upstream
  research: Research
  /** Conversations through the tools, which can be continued. */
  conversations: Conversations
  keptResponses: KeptResponses
  keys: Keys
  /** Groups of keys that share budgets. */
  groups: Groups
  idempotency: Idempotency
  /** Bytes of request bodies in memory. */
  buffered: BufferedBytes
  wallet: Wallet
  /** Journal of this process, and what those of dead ones prove. */
  journal: LiveJournal
  /** Budget alerts. */
  alerts: Alerts
  metering: Metering
  chain: Chain
  escrows: Escrows
  withdrawals: Withdrawals
  /** Records the final payment of an escrow or withdrawal on a chain. For `Chain.startSettling`. */
  settled: OnConfirmed
  tasks: Tasks
  /** Reviews of changes that this gateway observes. */
  reviews: Reviews
  /** Erases what a caller wrote, and keeps what proves money. @throws see `forgetCaller` */
  forget(id: string): Promise<Erased>
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

/**
 * Opens the store and wires the services. Each room's door follows its own settings.
 *
 * @throws GazewayError `store_unavailable`, `store_corrupt`, `store_too_new` or `config_invalid`
 */
export async function createGateway(read: LoadedConfig, log: Log): Promise<Gateway> {
  const { stop, ...base } = await openBase(read, log)
  const { store, now, config } = base
  const countTokens = createTokenCounter()

  const { wallet, accounts, limitsToSpend, overruns, absorbedCalls, burn, journal, ...money } = liveWallet(base)
  const calls = liveCalls(base, {
    writeSpending: writeRecorded,
    note: journal.noteCall,
    idOf: (model) => upstream.idOf(model),
  })
  const codingSessions = liveCodingSessions(base, calls)
  const keys = liveKeys(base, { ...accounts, onEnded: endSpace })
  const groups = createGroups({ store, now, spendOf: accounts.spendOf, onChanged: keys.groupChanged })
  const idempotency = liveIdempotency(base)
  const alerts = liveAlerts(base)
  absorbedCalls.listen(alerts.onAbsorbed)
  const billing = { ...money.billing, identity: keys.identity, onForeignModel: alerts.onForeignModel }
  const { upstreams, closeRates, sweeps, ...inference } = liveInference(base, {
    ...{ calls, countTokens, billing },
    stopped: codingSessions.stopped,
    onRepeated: alerts.onRepeated,
  })
  const upstream = upstreams.always
  const local = liveMemory(base, (of, call) => upstream.embed(of, call))
  const remote = openRemote(base)
  const memory = remote?.memory ?? local.memory
  const metering = liveMetering(base, { billing, countTokens, upstreams })
  const gaze = liveGaze(base, upstream)
  const verifier = liveReviewVerifier(base, gaze.verifier)
  const chain = liveChain(base)
  const { settlements } = chain
  const escrows = liveEscrows(base, { limitsOf: limitsToSpend, settlements, verifier })
  const withdrawals = liveWithdrawals(base, settlements)
  const tasks = liveTasks(base, { escrows, verifier })
  const projects = namedBy(remote, createProjects(store))
  const { offlineNote } = remote ?? {}
  const context = liveContext(base, { gaze, memory, projectsAt: projects.at, countTokens, offlineNote })
  const conversations = liveConversations(base)
  const keptResponses = liveKeptResponses(base)
  const sessions = liveSessions(base, () => upstream.provider.resolve(undefined, 'chat').requested)
  const rooms = {
    calls: { ...calls, ...remote?.calls },
    codingSessions,
    gaze,
    memory,
    conversations,
    idempotency,
    wallet,
    alerts,
    tasks,
    escrows,
    sessions,
    reviews: liveReviews(base, gaze),
  }

  async function finish(): Promise<void> {
    await remote?.close()
    await local.close()
    // In parallel: records must not wait for a table that another process locks.
    const written = calls.flush()
    const ends = await Promise.allSettled([
      written,
      written.then(billing.reservations.close),
      closeRates(),
      codingSessions.stopped.close(),
      keys.close(),
      stop(),
    ])
    await journal.close()
    await store.close()
    for (const end of ends) if (end.status === 'rejected') throw end.reason
  }

  return {
    ...{ store, config, log, ...rooms, ...inference, upstream, context, projects, remote, countTokens },
    ...{ keys, groups, burn, keptResponses, metering, overruns, absorbedCalls, chain, withdrawals, journal },
    get loaded() {
      return config.current()
    },
    buffered: createBufferedBytes(() => config.current().config.http.max_buffered_bytes),
    research: createResearch({ upstream, workContext: context.toSend, conversations }),
    async settled(trx, settlement) {
      if (!(await withdrawals.settled(trx, settlement))) await escrows.settled(trx, settlement)
    },
    swarm: createSwarm({ upstream, balances: (id) => wallet.balances(id), escrows, createGraph: tasks.createGraph }),
    agent: createAgent({ sessions, memory, keys, gaze, upstream, countTokens, config, now }),
    forget: (id) => forgetCaller(id, { store, now, revoke: keys.revoke }),
    skills: createSkills({ config: () => config.current().config.skills, dataDir: config.current().dataDir }),
    sweeps: [...storeSweeps(base), ...sweeps, ...Object.values(rooms).flatMap((room) => room.sweeps)],
    close: () => closeInTime(finish, calls),
  }
}

/** Sweeps of tables alone, for rooms whose services have none. */
function storeSweeps(base: Base): Sweep[] {
  const { store, now } = base
  return [...connectionSweeps(store, now), ...billSweeps(base), forgetSweep(store, now), spaceSweep(store)]
}

/** Gives the projects of folders the names that the remote Gazeway has for them. */
function namedBy(remote: Remote | null, projects: Projects): Projects {
  if (remote === null) return projects
  return { ...projects, at: async (folders) => (await projects.at(folders)).map(remote.projectName) }
}

/** @throws GazewayError as {@link Gateway.close} */
async function closeInTime(finish: () => Promise<void>, calls: LiveCalls): Promise<void> {
  const fault = await inTime(
    CLOSE_MS,
    finish().then(
      () => undefined,
      (error: unknown) => error,
    ),
  )
  if (calls.waiting() > 0) throw unwritten(calls.waiting(), fault)
  if (fault !== undefined) throw fault
}

function unwritten(records: number, cause: unknown): GazewayError {
  const why = cause instanceof Error ? cause.message : `the store did not accept them within ${CLOSE_MS / 1000} s.`
  return new GazewayError('store_unavailable', `${records} of the call records could not be written: ${why}`, { cause })
}
