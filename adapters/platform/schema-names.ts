import type * as z from 'zod'
import { CallRecord } from '../../src/calls/call-record.ts'
import { AgentRegistration, ChainBalance } from '../../src/chain/chain.ts'
import { Withdrawal } from '../../src/chain/withdrawals.ts'
import { CodingSession } from '../../src/coding-sessions/coding-session.ts'
import { CodingSessionDetails } from '../../src/coding-sessions/read-session.ts'
import { ConnectionRecord } from '../../src/connections/connections.ts'
import { Escrow, NewEscrow } from '../../src/escrow/escrow.ts'
import { Attestation } from '../../src/gaze/attestation.ts'
import { GazeSessionSummary } from '../../src/gaze/gaze-sessions.ts'
import { GazeRecord } from '../../src/gaze/tensor.ts'
import { Budgets } from '../../src/identity/budgets.ts'
import { GroupRecord, NewGroup } from '../../src/identity/groups.ts'
import { KeyRecord, NewKey } from '../../src/identity/keys.ts'
import { Memory } from '../../src/memory/memory.ts'
import { ListedPayment } from '../../src/payments/payment-list.ts'
import { Usage } from '../../src/providers/token-usage.ts'
import { Receipt as ReviewReceipt } from '../../src/review/receipt.ts'
import { NewReview, ReviewRecord, ReviewWithParts } from '../../src/review/review-record.ts'
import { Verdict } from '../../src/review/verify.ts'
import { Session, SessionMessage } from '../../src/sessions/sessions.ts'
import { GatewayKey } from '../../src/signing/gateway-keys.ts'
import { Skill, SkillWithContent } from '../../src/skills/skill.ts'
import { NewTask, SwarmSummary, Task } from '../../src/tasks/tasks.ts'
import { Burn } from '../../src/wallet/burn/burn.ts'
import { Balances, DepositReceipt, ListedDeposit, Receipt } from '../../src/wallet/wallet.ts'

/** Names of schemas in `components.schemas` of the API's description: the nouns that several operations share. */
export const SCHEMA_NAMES: ReadonlyMap<z.ZodType, string> = new Map<z.ZodType, string>(
  Object.entries({
    AgentRegistration,
    Attestation,
    Balances,
    Budgets,
    Burn,
    Call: CallRecord,
    ChainBalance,
    CodingSession,
    CodingSessionDetails,
    Connection: ConnectionRecord,
    Deposit: ListedDeposit,
    DepositReceipt,
    Escrow,
    GazeRecord,
    GazeSession: GazeSessionSummary,
    Group: GroupRecord,
    Key: KeyRecord,
    Memory,
    Message: SessionMessage,
    NewEscrow,
    NewGroup,
    NewKey,
    NewReview,
    NewTask,
    Payment: ListedPayment,
    Receipt,
    Review: ReviewRecord,
    ReviewReceipt,
    ReviewWithParts,
    Session,
    SigningKey: GatewayKey,
    Skill,
    SkillWithContent,
    Swarm: SwarmSummary,
    Task,
    Usage,
    Verdict,
    Withdrawal,
  }).map(([name, schema]) => [schema, name]),
)
