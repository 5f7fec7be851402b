import type { Burn } from '../../../../../src/wallet/burn/burn.ts'
import { budgetText } from '../../components/budgets.tsx'
import { Badge, Empty, Money, Page, type Tone, When } from '../../components/content.ts'
import { figureColumn, ListCard, moneyColumn } from '../../components/lists.ts'
import { duration, usd } from '../../format.ts'
import { usePage } from '../../paging.ts'
import { href } from '../../router.ts'
import { session } from '../../signed-in.ts'
import { type Groups, useGroups } from '../../use-groups.ts'

/** Less time than this is a warning: a day, in seconds. */
const SOON_SECONDS = 86_400

/** Keys and groups by the time until they run out, at the rate of the last 24 hours. */
export default function BurnPage() {
  return (
    <Page
      title="Time left"
      intro="Keys and groups by the time until they run out of money or budget, at the rate of the last 24 hours."
    >
      {session.value?.isAdmin ? (
        <BurnList />
      ) : (
        <Empty title="Admin key required" hint="See your own balance and budgets on the Wallet page." />
      )}
    </Page>
  )
}

function BurnList() {
  const page = usePage<Burn>('/api/keys/burn', { everyMs: 5000 })
  const groups = useGroups()
  return (
    <ListCard<Burn>
      title="Active keys and groups"
      label="Keys and groups, least time left first"
      list={page}
      loading="keys and groups"
      pages={{ back: 'Sooner', on: 'Later' }}
      empty={{ title: 'No keys yet', hint: 'Create a key per assistant.', command: 'gazeway key create --name laptop' }}
      columns={[
        { key: 'name', label: 'Name', align: 'words', render: (burn) => <Name of={burn} groups={groups} /> },
        { key: 'time_left', label: 'Time left', render: (burn) => <TimeLeft of={burn} /> },
        moneyColumn('burned_24h_usd', 'Spent in 24 h'),
        figureColumn('Balance', (burn) => <Balance of={burn} />),
        { key: 'budget', label: 'Tightest budget', render: (burn) => <Tightest of={burn} groups={groups} /> },
        { key: 'resets', label: 'Resets', render: ({ budget }) => <When at={budget?.resets_at} /> },
      ]}
    />
  )
}

function Name({ of: { id, kind, name, group }, groups }: { of: Burn; groups: Groups }) {
  if (kind === 'group') {
    return (
      <>
        <a href={href('keys', { id })}>{name}</a> <Badge>group</Badge>
      </>
    )
  }
  return (
    <>
      <a href={href('wallet', { id: 'ledger', query: { caller: id } })}>{name}</a>
      {group !== null && <div class="muted">in {groups.nameOf(group)}</div>}
    </>
  )
}

function TimeLeft({ of: { time_left_seconds, runs_out } }: { of: Burn }) {
  if (time_left_seconds === null || runs_out === null) return <span class="muted">not running out</span>
  const text = time_left_seconds === 0 ? 'run out' : duration(time_left_seconds * 1000)
  return (
    <>
      <Badge tone={toneOf(time_left_seconds)}>{text}</Badge>
      <div class="muted">{runs_out}</div>
    </>
  )
}

function toneOf(seconds: number): Tone {
  if (seconds === 0) return 'bad'
  return seconds < SOON_SECONDS ? 'warn' : 'good'
}

function Balance({ of: { kind, balance } }: { of: Burn }) {
  if (kind === 'group') return <span class="muted">—</span>
  if (balance === null) return <span class="muted">not charged</span>
  const { left_usd, available_usd, credit_limit_usd } = balance
  return <span title={`${usd(available_usd)} and ${usd(credit_limit_usd)} of credit`}>{usd(left_usd)} left</span>
}

function Tightest({ of: { id, budget }, groups }: { of: Burn; groups: Groups }) {
  if (budget === null) return <span class="muted">no limit</span>
  return (
    <>
      <Money usd={budget.left_usd} /> left of {budgetText(budget)}
      {budget.owner !== id && <div class="muted">of the group {groups.nameOf(budget.owner)}</div>}
    </>
  )
}
