import { useState } from 'preact/hooks'
import type { Skill, SkillWithContent } from '../../../../../src/skills/skill.ts'
import type { SkillCategories, SkillList } from '../../../../platform/routes/skills-routes.ts'
import {
  Badge,
  Card,
  DataTable,
  Empty,
  ErrorNote,
  Field,
  Loading,
  Page,
  Select,
  TextInput,
  When,
} from '../../components/components.ts'
import { count } from '../../format.ts'
import { go, href, type PageProps } from '../../router.ts'
import { useLive } from '../../use-live.ts'

/** Skills on this machine and on the agent gateway, or one skill. */
export default function Skills({ id }: PageProps) {
  if (id !== null)
    return (
      <Page title="Skill" actions={<a href={href('skills')}>All skills</a>}>
        <OneSkill id={id} />
      </Page>
    )
  return (
    <Page
      title="Skills"
      intro="Instructions for agents, from the skill folders on this machine and from the agent gateway."
    >
      <SkillTable />
    </Page>
  )
}

function SkillTable() {
  const [search, setSearch] = useState('')
  const [category, setCategory] = useState('')
  const filter = new URLSearchParams({ ...(category && { category }), ...(search.trim() && { search: search.trim() }) })
  const list = useLive<SkillList>(`/api/skills${filter.size > 0 ? `?${filter}` : ''}`, { everyMs: 10_000 })
  const categories = useLive<SkillCategories>('/api/skills/categories', {
    everyMs: 30_000,
  })
  return (
    <Card>
      <div class="filters">
        <Field label="Search">
          <TextInput type="search" value={search} onInput={setSearch} maxLength={1000} />
        </Field>
        <Field label="Category">
          <Select
            value={category}
            options={[
              { value: '', label: 'All' },
              ...(categories.data?.items ?? []).map((one) => ({
                value: one.name,
                label: `${one.name} (${one.count})`,
              })),
            ]}
            onChange={setCategory}
          />
        </Field>
      </div>
      <ErrorNote error={list.error} onRetry={list.reload} />
      {[...(list.data?.warnings ?? []), ...(list.data?.upstream_error ? [list.data.upstream_error] : [])].map(
        (warning) => (
          <p key={warning} class="hint">
            {warning}
          </p>
        ),
      )}
      {list.data === null && list.loading ? (
        <Loading what="the skills" />
      ) : (
        <>
          <DataTable<Skill>
            label="Skills"
            rows={list.data?.items ?? []}
            rowKey={({ id, source }) => `${source}/${id}`}
            onRow={({ id }) => go(href('skills', { id }))}
            columns={[
              { key: 'name', label: 'Name' },
              { key: 'description', label: 'Description' },
              { key: 'category', label: 'Category' },
              { key: 'source', label: 'From' },
              { key: 'state', label: 'State', render: (skill) => <State skill={skill} /> },
            ]}
            of={list}
            empty={
              filter.size > 0 ? (
                <Empty title="No skill matches" hint="Try other words, or another category." />
              ) : (
                <Empty
                  title="No skills are installed"
                  hint="Put a folder with a SKILL.md into .agents/skills or .claude/skills in your home folder or project."
                />
              )
            }
          />
          {list.data && list.data.total > 0 && (
            <p class="muted">
              {count(list.data.total)} {list.data.total === 1 ? 'skill' : 'skills'}
            </p>
          )}
        </>
      )}
    </Card>
  )
}

function State({ skill: { error, warnings, enabled } }: { skill: Skill }) {
  if (error !== null) return <Badge tone="bad">unusable</Badge>
  if (!enabled) return <Badge>disabled</Badge>
  return warnings.length > 0 ? <Badge tone="warn">with warnings</Badge> : <Badge tone="good">ready</Badge>
}

function OneSkill({ id }: { id: string }) {
  const {
    data: skill,
    error,
    reload,
  } = useLive<SkillWithContent>(`/api/skills/${encodeURIComponent(id)}`, { everyMs: 10_000 })
  if (skill === null) return error ? <ErrorNote error={error} onRetry={reload} /> : <Loading what="the skill" />
  const facts: [string, string | null][] = [
    ['Category', skill.category],
    ['Tags', skill.tags.join(', ') || null],
    ['Version', skill.version],
    ['License', skill.license],
    ['Needs', skill.compatibility],
    ['From', skill.source],
    ['File', skill.path],
  ]
  return (
    <>
      <Card title={skill.name} actions={<State skill={skill} />}>
        <p>{skill.description}</p>
        {skill.error !== null && <ErrorNote error={new Error(`Not available to agents: ${skill.error}`)} />}
        {skill.warnings.length > 0 && (
          <ul class="hint" aria-label="Warnings">
            {skill.warnings.map((warning) => (
              <li key={warning}>{warning}</li>
            ))}
          </ul>
        )}
        <dl class="facts">
          {facts
            .filter(([, value]) => value !== null)
            .flatMap(([name, value]) => [<dt key={`${name}:`}>{name}</dt>, <dd key={name}>{value}</dd>])}
          {skill.updated_at !== null && (
            <>
              <dt>Changed</dt>
              <dd>
                <When at={skill.updated_at} />
              </dd>
            </>
          )}
        </dl>
      </Card>
      <Card title="Instructions">
        {skill.content ? (
          <pre>{skill.content}</pre>
        ) : (
          <Empty
            title="Instructions not available"
            hint={skill.source === 'upstream' ? 'The agent gateway does not provide them.' : 'The file cannot be read.'}
          />
        )}
      </Card>
    </>
  )
}
