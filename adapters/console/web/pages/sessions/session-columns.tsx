import type { CodingSession } from '../../../../../src/coding-sessions/coding-session.ts'
import { Badge } from '../../components/content.ts'
import { type Column, figureColumn, moneyColumn, whenColumn } from '../../components/lists.ts'
import { count, percent, short, shortId } from '../../format.ts'

/** Name of what a session worked on. */
export const workOf = ({ repository, branch, id }: Pick<CodingSession, 'repository' | 'branch' | 'id'>): string =>
  repository === null ? `session ${shortId(id)}` : `${repository}${branch === null ? '' : ` ${branch}`}`

/** Columns of sessions, without their key. */
export const SESSION_COLUMNS: readonly [Column<CodingSession>, ...Column<CodingSession>[]] = [
  {
    key: 'work',
    label: 'Repository, branch',
    align: 'words',
    render: ({ repository, branch, id }) => (
      <span title={id}>
        {repository ?? `session ${shortId(id)}`} {branch && <span class="muted">{branch}</span>}
      </span>
    ),
  },
  { key: 'client', label: 'Client', render: ({ client }) => client.name ?? '—' },
  {
    key: 'state',
    label: 'State',
    render: ({ state }) =>
      state === 'stopped' ? <Badge tone="warn">stopped</Badge> : <Badge tone="good">active</Badge>,
  },
  figureColumn('Calls', ({ calls }) => count(calls)),
  figureColumn('Tokens', ({ usage }) => short(usage.total_tokens)),
  figureColumn('Cache hits', ({ cache }) => (cache.hit_rate === null ? '—' : percent(cache.hit_rate))),
  figureColumn('Errors', ({ errors }) => (errors > 0 ? <span class="bad">{count(errors)}</span> : '0')),
  moneyColumn('cost_usd', 'Cost'),
  whenColumn('last_at', 'Last'),
]
