# Uses the gem gitlab as its documentation shows. Prints the results of one part, named by the argument, as JSON.

require 'base64'
require 'gitlab'

ENDPOINT = "#{ENV.fetch('BASE_URL')}/api/v4".freeze
OWNER = Gitlab.client(endpoint: ENDPOINT, private_token: ENV.fetch('OWNER_TOKEN'))
REVIEWER = Gitlab.client(endpoint: ENDPOINT, private_token: ENV.fetch('REVIEWER_TOKEN'))
PROJECT = ENV.fetch('PROJECT_ID').to_i
FILE = 'src/größe "1".txt'.freeze

def refusal
  yield
  'not refused'
rescue Gitlab::Error::ResponseError => e
  [e.response_status, e.response_message]
end

def paths(diffs)
  diffs.map { |diff| diff['new_path'] }.sort
end

def repository
  OWNER.edit_file(PROJECT, 'README.md', 'main', "one\ntwo\nthree\nfour\n", 'Second')
  readme = OWNER.get_file(PROJECT, 'README.md', 'main')
  feature = OWNER.create_branch(PROJECT, 'feature/x', 'main')
  commit = OWNER.create_commit(PROJECT, 'feature/x', 'Change', [
    { action: 'create', file_path: FILE, content: "big\n" },
    { action: 'update', file_path: 'README.md', content: "one\n2\nthree\nfour\n" }
  ])
  OWNER.create_commit_comment(PROJECT, commit.id, 'A note', path: 'README.md', line: 2, line_type: 'new')
  compared = OWNER.compare(PROJECT, 'main', 'feature/x')
  OWNER.create_tag(PROJECT, 'v1.0', 'main', 'The first')
  report = {
    branch: [feature.name, feature.commit.title, feature.default],
    branches: OWNER.branches(PROJECT, per_page: 1).auto_paginate.map(&:name).sort,
    merged: OWNER.merge_base(PROJECT, %w[main feature/x]).id == feature.commit.id,
    file: [readme.file_path, Base64.decode64(OWNER.get_file(PROJECT, FILE, 'feature/x').content)],
    raw: OWNER.file_contents(PROJECT, 'README.md', 'HEAD'),
    blame: OWNER.get_file_blame(PROJECT, 'README.md', 'feature/x').map { |part| [part.commit.message, part.lines] },
    commits: OWNER.commits(PROJECT, ref_name: 'feature/x', per_page: 1).auto_paginate.map(&:title),
    commit: [commit.title, commit.stats.additions, commit.stats.deletions],
    diff: paths(OWNER.commit_diff(PROJECT, commit.id)),
    refs: OWNER.commit_refs(PROJECT, commit.id).map { |ref| [ref.type, ref.name] },
    comments: OWNER.commit_comments(PROJECT, commit.id).map { |one| [one.note, one.path, one.line] },
    compare: [compared.commits.map(&:title), paths(compared.diffs)],
    tree: OWNER.tree(PROJECT, ref: 'feature/x', recursive: true, per_page: 1).auto_paginate.map(&:path),
    contributors: OWNER.contributors(PROJECT).map(&:commits),
    tags: OWNER.tags(PROJECT).map { |tag| [tag.name, tag.message, tag.commit.title] },
    archive: OWNER.repo_archive(PROJECT, 'v1.0').to_hash[:data].read[0, 2].unpack1('H*'),
    missing: refusal { OWNER.get_file(PROJECT, 'none', 'main') },
    unknown: refusal { OWNER.get_file(PROJECT, 'README.md', 'none') },
    again: refusal { OWNER.create_file(PROJECT, 'README.md', 'main', '', 'Again') }
  }
  OWNER.remove_file(PROJECT, 'README.md', 'feature/x', 'Remove')
  removed = OWNER.branch(PROJECT, 'feature/x').commit.title
  OWNER.delete_tag(PROJECT, 'v1.0')
  OWNER.delete_branch(PROJECT, 'feature/x')
  gone = refusal { OWNER.branch(PROJECT, 'feature/x') }
  report.merge(deleted: [removed, OWNER.tags(PROJECT).length, gone.first])
end

def merge_requests
  added = [{ action: 'create', file_path: 'code.txt', content: "a\nb\nc\n" }]
  OWNER.create_commit(PROJECT, 'topic', 'Add code', added, start_branch: 'main')
  created = OWNER.create_merge_request(
    PROJECT, 'Draft: Code',
    source_branch: 'topic', target_branch: 'main', labels: 'new,small', reviewer_ids: [REVIEWER.user.id],
    remove_source_branch: true
  )
  iid = created.iid
  OWNER.update_merge_request(PROJECT, iid, title: 'Code', labels: '')
  note = REVIEWER.create_merge_request_note(PROJECT, iid, 'A note')
  REVIEWER.edit_merge_request_note(PROJECT, iid, note.id, 'Edited')
  at = created.diff_refs.to_h.merge(position_type: 'text', old_path: 'code.txt', new_path: 'code.txt', new_line: 2)
  body = "Better:\n```suggestion:-0+0\nB\n```"
  thread = REVIEWER.create_merge_request_discussion(PROJECT, iid, body: body, position: at)
  REVIEWER.create_merge_request_discussion_note(PROJECT, iid, thread.id, body: 'A reply')
  suggestion = thread.notes.first.suggestions.first
  path = "/projects/#{PROJECT}/merge_requests/#{iid}/draft_notes"
  draft = REVIEWER.post(path, body: { note: 'Looks good' })
  drafts = REVIEWER.get(path).map(&:note)
  REVIEWER.put("#{path}/#{draft.id}/publish")
  rule = OWNER.create_project_merge_request_approval_rule(
    PROJECT, name: 'All', rule_type: 'any_approver', approvals_required: 1
  )
  REVIEWER.approve_merge_request(PROJECT, iid)
  approved = OWNER.merge_request_approvals(PROJECT, iid)
  state = OWNER.merge_request_approval_state(PROJECT, iid)
  REVIEWER.unapprove_merge_request(PROJECT, iid)
  applied = OWNER.put("/suggestions/#{suggestion.id}/apply")
  REVIEWER.approve_merge_request(PROJECT, iid, sha: OWNER.branch(PROJECT, 'topic').commit.id)
  resolved = OWNER.merge_request_discussion(PROJECT, iid, thread.id)
  question = OWNER.create_merge_request_discussion(PROJECT, iid, body: 'A question')
  answered = OWNER.resolve_merge_request_discussion(PROJECT, iid, question.id, resolved: true)
  OWNER.delete_project_merge_request_approval_rule(PROJECT, rule.id)
  shown = OWNER.merge_request(PROJECT, iid)
  notes = OWNER.merge_request_notes(PROJECT, iid, order_by: 'created_at', sort: 'asc', per_page: 3).auto_paginate
  again = { source_branch: 'topic', target_branch: 'main' }
  report = {
    created: [created.title, created.draft, created.labels.sort, created.reviewers.map(&:username)],
    shown: [shown.title, shown.draft, shown.labels, shown.state, shown.changes_count],
    listed: OWNER.merge_requests(PROJECT, state: 'opened', source_branch: 'topic').map { |one| one.iid == iid },
    commits: OWNER.merge_request_commits(PROJECT, iid).map(&:title),
    changes: paths(OWNER.merge_request_changes(PROJECT, iid).changes),
    versions: OWNER.merge_request_diff_versions(PROJECT, iid).length,
    participants: OWNER.merge_request_participants(PROJECT, iid).length,
    notes: notes.reject(&:system).map(&:body),
    position: %w[new_path new_line old_line].map { |key| thread.notes.first.position[key] },
    suggestion: [suggestion.from_content, suggestion.to_content, applied.applied],
    resolved: [resolved.notes.first.resolved, answered.notes.first.resolved],
    drafts: drafts,
    approvals: [approved.approved, approved.approved_by.map { |one| one.user.username }, approved.approvals_left],
    rules: state.rules.map { |one| [one.name, one.rule_type, one.approved] },
    duplicate: refusal { OWNER.create_merge_request(PROJECT, 'Twice', again) }.first
  }
  merged = OWNER.accept_merge_request(PROJECT, iid, sha: shown.sha)
  report.merge(merged: [merged.state, OWNER.file_contents(PROJECT, 'code.txt', 'main')])
end

def activity
  group = "/groups/#{ENV.fetch('GROUP_ID')}/notification_settings"
  levels = [REVIEWER.get('/notification_settings').level]
  levels << REVIEWER.put('/notification_settings', body: { level: 'watch' }).level
  custom = { level: 'custom', new_note: true }
  events = REVIEWER.put("/projects/#{PROJECT}/notification_settings", body: custom).events
  levels << OWNER.put(group, body: { level: 'mention' }).level
  todos = REVIEWER.todos(state: 'pending', type: 'Issue', per_page: 1).auto_paginate
  opened = OWNER.project_events(PROJECT, target_type: 'issue', action: 'created')
  pushed = OWNER.events(action: 'pushed', sort: 'asc', per_page: 1).map(&:push_data)
  commented = REVIEWER.user_events(REVIEWER.user.id, action: 'commented')
  done = [REVIEWER.mark_todo_as_done(REVIEWER.todos(action: 'assigned').first.id).state, REVIEWER.todos.length]
  REVIEWER.mark_all_todos_as_done
  {
    levels: levels,
    custom: [events.new_note, events.new_issue],
    todos: todos.map { |todo| [todo.action_name, todo.target.title] }.sort,
    opened: opened.map(&:target_title),
    pushed: pushed.map { |push| [push.ref, push.commit_title] },
    commented: commented.map { |event| event.note.body },
    done: done << REVIEWER.todos.length
  }
end

parts = { 'repository' => :repository, 'merge-requests' => :merge_requests, 'activity' => :activity }
puts JSON.generate(send(parts.fetch(ARGV.first)))
