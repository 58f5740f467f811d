// Uses go-gitlab as its documentation shows. Prints the results of one part, named by the argument, as JSON.
package main

import (
	"encoding/base64"
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"sort"
	"strconv"

	"github.com/xanzy/go-gitlab"
)

type report map[string]interface{}
type values []interface{}

const file = `src/größe "1".txt`

var (
	url      = gitlab.WithBaseURL(os.Getenv("BASE_URL"))
	owner    = client(gitlab.NewClient(os.Getenv("OWNER_TOKEN"), url))
	reviewer = client(gitlab.NewOAuthClient(os.Getenv("REVIEWER_TOKEN"), url))
	project  = os.Getenv("PROJECT_ID")
	text     = gitlab.String
	one      = gitlab.ListOptions{PerPage: 1}
)

func client(client *gitlab.Client, err error) *gitlab.Client {
	check(err)
	return client
}

func check(err error) {
	if err != nil {
		panic(err)
	}
}

// must returns the result of a call, and ends the program if the call failed.
func must[T any](result T, _ *gitlab.Response, err error) T {
	check(err)
	return result
}

// each returns a value of every row.
func each[T, V any](rows []T, value func(T) V) []V {
	all := make([]V, 0, len(rows))
	for _, row := range rows {
		all = append(all, value(row))
	}
	return all
}

// pages collects the rows of all pages.
func pages[T any](list func(gitlab.ListOptions) ([]T, *gitlab.Response, error)) (all []T) {
	for next := 1; next != 0; {
		rows, response, err := list(gitlab.ListOptions{PerPage: 1, Page: next})
		check(err)
		all = append(all, rows...)
		next = response.NextPage
	}
	return all
}

func paths(diffs []*gitlab.Diff) []string {
	all := each(diffs, func(diff *gitlab.Diff) string { return diff.NewPath })
	sort.Strings(all)
	return all
}

func refusal(err error) interface{} {
	var refused *gitlab.ErrorResponse
	if !errors.As(err, &refused) {
		return "not refused"
	}
	var body struct{ Message interface{} }
	check(json.Unmarshal(refused.Body, &body))
	return values{refused.Response.StatusCode, body.Message}
}

// request calls a route for which this client has no method.
func request(by *gitlab.Client, method, path string, options, result interface{}) {
	made, err := by.NewRequest(method, path, options, nil)
	check(err)
	_, err = by.Do(made, result)
	check(err)
}

// lineOrNull returns the number of a line. This client reads a missing number as 0.
func lineOrNull(line int) interface{} {
	if line == 0 {
		return nil
	}
	return line
}

func raw(path, ref string) string {
	return string(must(owner.RepositoryFiles.GetRawFile(project, path, &gitlab.GetRawFileOptions{Ref: &ref})))
}

func repository() report {
	files, branches, commits := owner.RepositoryFiles, owner.Branches, owner.Commits
	main, feature := text("main"), text("feature/x")
	must(files.UpdateFile(project, "README.md", &gitlab.UpdateFileOptions{
		Branch: main, Content: text("one\ntwo\nthree\nfour\n"), CommitMessage: text("Second"),
	}))
	readme := must(files.GetFileMetaData(project, "README.md", &gitlab.GetFileMetaDataOptions{Ref: main}))
	branch := must(branches.CreateBranch(project, &gitlab.CreateBranchOptions{Branch: feature, Ref: main}))
	commit := must(commits.CreateCommit(project, &gitlab.CreateCommitOptions{
		Branch: feature, CommitMessage: text("Change"),
		Actions: []*gitlab.CommitActionOptions{
			{Action: gitlab.FileAction(gitlab.FileCreate), FilePath: text(file), Content: text("big\n")},
			{Action: gitlab.FileAction(gitlab.FileUpdate), FilePath: text("README.md"), Content: text("one\n2\nthree\nfour\n")},
		},
	}))
	must(commits.PostCommitComment(project, commit.ID, &gitlab.PostCommitCommentOptions{
		Note: text("A note"), Path: text("README.md"), Line: gitlab.Int(2), LineType: text("new"),
	}))
	compared := must(owner.Repositories.Compare(project, &gitlab.CompareOptions{From: main, To: feature}))
	must(owner.Tags.CreateTag(project, &gitlab.CreateTagOptions{
		TagName: text("v1.0"), Ref: main, Message: text("The first"),
	}))
	base := must(owner.Repositories.MergeBase(project, &gitlab.MergeBaseOptions{Ref: &[]string{*main, *feature}}))
	content, err := base64.StdEncoding.DecodeString(
		must(files.GetFile(project, file, &gitlab.GetFileOptions{Ref: feature})).Content)
	check(err)
	names := each(pages(func(page gitlab.ListOptions) ([]*gitlab.Branch, *gitlab.Response, error) {
		return branches.ListBranches(project, &gitlab.ListBranchesOptions{ListOptions: page})
	}), func(branch *gitlab.Branch) string { return branch.Name })
	sort.Strings(names)
	titleOf := func(commit *gitlab.Commit) string { return commit.Title }
	archive := must(owner.Repositories.Archive(project, &gitlab.ArchiveOptions{Format: text("tar.gz"), SHA: text("v1.0")}))
	_, _, missing := files.GetFile(project, "none", &gitlab.GetFileOptions{Ref: main})
	_, _, unknown := files.GetFile(project, "README.md", &gitlab.GetFileOptions{Ref: text("none")})
	_, _, again := files.CreateFile(project, "README.md", &gitlab.CreateFileOptions{
		Branch: main, Content: text(""), CommitMessage: text("Again"),
	})
	found := report{
		"branch":   values{branch.Name, branch.Commit.Title, branch.Default},
		"branches": names,
		"merged":   base.ID == branch.Commit.ID,
		"file":     values{readme.FilePath, string(content)},
		"raw":      raw("README.md", "HEAD"),
		"blame": each(must(files.GetFileBlame(project, "README.md", &gitlab.GetFileBlameOptions{Ref: feature})),
			func(part *gitlab.FileBlameRange) values { return values{part.Commit.Message, part.Lines} }),
		"commits": each(pages(func(page gitlab.ListOptions) ([]*gitlab.Commit, *gitlab.Response, error) {
			return commits.ListCommits(project, &gitlab.ListCommitsOptions{ListOptions: page, RefName: feature})
		}), titleOf),
		"commit": values{commit.Title, commit.Stats.Additions, commit.Stats.Deletions},
		"diff":   paths(must(commits.GetCommitDiff(project, commit.ID, nil))),
		"refs": each(must(commits.GetCommitRefs(project, commit.ID, nil)),
			func(ref *gitlab.CommitRef) values { return values{ref.Type, ref.Name} }),
		"comments": each(must(commits.GetCommitComments(project, commit.ID, nil)),
			func(comment *gitlab.CommitComment) values { return values{comment.Note, comment.Path, comment.Line} }),
		"compare": values{each(compared.Commits, titleOf), paths(compared.Diffs)},
		"tree": each(pages(func(page gitlab.ListOptions) ([]*gitlab.TreeNode, *gitlab.Response, error) {
			return owner.Repositories.ListTree(project, &gitlab.ListTreeOptions{
				ListOptions: page, Ref: feature, Recursive: gitlab.Bool(true),
			})
		}), func(entry *gitlab.TreeNode) string { return entry.Path }),
		"contributors": each(must(owner.Repositories.Contributors(project, nil)),
			func(person *gitlab.Contributor) int { return person.Commits }),
		"tags": each(must(owner.Tags.ListTags(project, nil)),
			func(tag *gitlab.Tag) values { return values{tag.Name, tag.Message, tag.Commit.Title} }),
		"archive": fmt.Sprintf("%x", archive[:2]),
		"missing": refusal(missing), "unknown": refusal(unknown), "again": refusal(again),
	}
	_, err = files.DeleteFile(project, "README.md", &gitlab.DeleteFileOptions{Branch: feature, CommitMessage: text("Remove")})
	check(err)
	removed := must(commits.GetCommit(project, "feature/x"))
	_, err = owner.Tags.DeleteTag(project, "v1.0")
	check(err)
	_, err = branches.DeleteBranch(project, "feature/x")
	check(err)
	_, gone, _ := branches.GetBranch(project, "feature/x")
	found["deleted"] = values{removed.Title, len(must(owner.Tags.ListTags(project, nil))), gone.StatusCode}
	return found
}

func mergeRequests() report {
	requests, approvals, threads := owner.MergeRequests, owner.MergeRequestApprovals, owner.Discussions
	must(owner.Commits.CreateCommit(project, &gitlab.CreateCommitOptions{
		Branch: text("topic"), StartBranch: text("main"), CommitMessage: text("Add code"),
		Actions: []*gitlab.CommitActionOptions{
			{Action: gitlab.FileAction(gitlab.FileCreate), FilePath: text("code.txt"), Content: text("a\nb\nc\n")},
		},
	}))
	creation := &gitlab.CreateMergeRequestOptions{
		SourceBranch: text("topic"), TargetBranch: text("main"), Title: text("Draft: Code"),
		Labels: &gitlab.Labels{"new", "small"}, RemoveSourceBranch: gitlab.Bool(true),
		ReviewerIDs: &[]int{must(reviewer.Users.CurrentUser()).ID},
	}
	created := must(requests.CreateMergeRequest(project, creation))
	iid := created.IID
	path := fmt.Sprintf("projects/%s/merge_requests/%d", project, iid)
	must(requests.UpdateMergeRequest(project, iid, &gitlab.UpdateMergeRequestOptions{
		Title: text("Code"), Labels: &gitlab.Labels{},
	}))
	note := must(reviewer.Notes.CreateMergeRequestNote(project, iid, &gitlab.CreateMergeRequestNoteOptions{Body: text("A note")}))
	must(reviewer.Notes.UpdateMergeRequestNote(project, iid, note.ID, &gitlab.UpdateMergeRequestNoteOptions{Body: text("Edited")}))
	thread := must(reviewer.Discussions.CreateMergeRequestDiscussion(project, iid, &gitlab.CreateMergeRequestDiscussionOptions{
		Body: text("Better:\n```suggestion:-0+0\nB\n```"),
		Position: &gitlab.NotePosition{
			BaseSHA: created.DiffRefs.BaseSha, StartSHA: created.DiffRefs.StartSha, HeadSHA: created.DiffRefs.HeadSha,
			PositionType: "text", OldPath: "code.txt", NewPath: "code.txt", NewLine: 2,
		},
	}))
	must(reviewer.Discussions.AddMergeRequestDiscussionNote(project, iid, thread.ID,
		&gitlab.AddMergeRequestDiscussionNoteOptions{Body: text("A reply")}))
	var suggestion struct {
		ID          int
		FromContent string `json:"from_content"`
		ToContent   string `json:"to_content"`
		Applied     bool
	}
	var first struct{ Suggestions []json.RawMessage }
	request(reviewer, "GET", fmt.Sprintf("%s/notes/%d", path, thread.Notes[0].ID), nil, &first)
	check(json.Unmarshal(first.Suggestions[0], &suggestion))
	type draftNote struct {
		ID   int    `json:"id,omitempty"`
		Note string `json:"note"`
	}
	var draft draftNote
	var drafts []draftNote
	request(reviewer, "POST", path+"/draft_notes", draftNote{Note: "Looks good"}, &draft)
	request(reviewer, "GET", path+"/draft_notes", nil, &drafts)
	request(reviewer, "PUT", path+"/draft_notes/"+strconv.Itoa(draft.ID)+"/publish", nil, nil)
	rule := must(owner.Projects.CreateProjectApprovalRule(project, &gitlab.CreateProjectLevelRuleOptions{
		Name: text("All"), RuleType: text("any_approver"), ApprovalsRequired: gitlab.Int(1),
	}))
	must(reviewer.MergeRequestApprovals.ApproveMergeRequest(project, iid, nil))
	approved := must(approvals.GetConfiguration(project, iid))
	state := must(approvals.GetApprovalState(project, iid))
	_, err := reviewer.MergeRequestApprovals.UnapproveMergeRequest(project, iid)
	check(err)
	request(owner, "PUT", fmt.Sprintf("suggestions/%d/apply", suggestion.ID), nil, &suggestion)
	head := must(owner.Branches.GetBranch(project, "topic")).Commit.ID
	must(reviewer.MergeRequestApprovals.ApproveMergeRequest(project, iid, &gitlab.ApproveMergeRequestOptions{SHA: &head}))
	resolved := must(threads.GetMergeRequestDiscussion(project, iid, thread.ID))
	question := must(threads.CreateMergeRequestDiscussion(project, iid,
		&gitlab.CreateMergeRequestDiscussionOptions{Body: text("A question")}))
	answered := must(threads.ResolveMergeRequestDiscussion(project, iid, question.ID,
		&gitlab.ResolveMergeRequestDiscussionOptions{Resolved: gitlab.Bool(true)}))
	_, err = owner.Projects.DeleteProjectApprovalRule(project, rule.ID)
	check(err)
	shown := must(requests.GetMergeRequest(project, iid, nil))
	notes := pages(func(page gitlab.ListOptions) ([]*gitlab.Note, *gitlab.Response, error) {
		return owner.Notes.ListMergeRequestNotes(project, iid, &gitlab.ListMergeRequestNotesOptions{
			ListOptions: page, OrderBy: text("created_at"), Sort: text("asc"),
		})
	})
	written := []string{}
	for _, note := range notes {
		if !note.System {
			written = append(written, note.Body)
		}
	}
	changed := []string{}
	for _, change := range must(requests.GetMergeRequestChanges(project, iid, nil)).Changes {
		changed = append(changed, change.NewPath)
	}
	sort.Strings(created.Labels)
	userName := func(user *gitlab.BasicUser) string { return user.Username }
	_, twice, _ := requests.CreateMergeRequest(project, creation)
	position := thread.Notes[0].Position
	found := report{
		"created": values{created.Title, created.Draft, created.Labels, each(created.Reviewers, userName)},
		"shown":   values{shown.Title, shown.Draft, shown.Labels, shown.State, shown.ChangesCount},
		"listed": each(must(requests.ListProjectMergeRequests(project, &gitlab.ListProjectMergeRequestsOptions{
			State: text("opened"), SourceBranch: text("topic"),
		})), func(request *gitlab.MergeRequest) bool { return request.IID == iid }),
		"commits": each(must(requests.GetMergeRequestCommits(project, iid, nil)),
			func(commit *gitlab.Commit) string { return commit.Title }),
		"changes":      changed,
		"versions":     len(must(requests.GetMergeRequestDiffVersions(project, iid, nil))),
		"participants": len(must(requests.GetMergeRequestParticipants(project, iid))),
		"notes":        written,
		"position":     values{position.NewPath, lineOrNull(position.NewLine), lineOrNull(position.OldLine)},
		"suggestion":   values{suggestion.FromContent, suggestion.ToContent, suggestion.Applied},
		"resolved":     values{resolved.Notes[0].Resolved, answered.Notes[0].Resolved},
		"drafts":       each(drafts, func(draft draftNote) string { return draft.Note }),
		"approvals": values{approved.Approved, each(approved.ApprovedBy,
			func(by *gitlab.MergeRequestApproverUser) string { return by.User.Username }), approved.ApprovalsLeft},
		"rules": each(state.Rules, func(rule *gitlab.MergeRequestApprovalRule) values {
			return values{rule.Name, rule.RuleType, rule.Approved}
		}),
		"duplicate": twice.StatusCode,
	}
	merged := must(requests.AcceptMergeRequest(project, iid, &gitlab.AcceptMergeRequestOptions{SHA: &shown.SHA}))
	found["merged"] = values{merged.State, raw("code.txt", "main")}
	return found
}

func activity() report {
	settings, todos := reviewer.NotificationSettings, reviewer.Todos
	level := func(settings *gitlab.NotificationSettings) string { return settings.Level.String() }
	watch, custom, mention := gitlab.WatchNotificationLevel, gitlab.CustomNotificationLevel, gitlab.MentionNotificationLevel
	levels := []string{level(must(settings.GetGlobalSettings()))}
	levels = append(levels, level(must(settings.UpdateGlobalSettings(&gitlab.NotificationSettingsOptions{Level: &watch}))))
	events := must(settings.UpdateSettingsForProject(project, &gitlab.NotificationSettingsOptions{
		Level: &custom, NewNote: gitlab.Bool(true),
	})).Events
	levels = append(levels, level(must(owner.NotificationSettings.UpdateSettingsForGroup(os.Getenv("GROUP_ID"),
		&gitlab.NotificationSettingsOptions{Level: &mention}))))
	pending := pages(func(page gitlab.ListOptions) ([]*gitlab.Todo, *gitlab.Response, error) {
		return todos.ListTodos(&gitlab.ListTodosOptions{ListOptions: page, State: text("pending"), Type: text("Issue")})
	})
	sort.Slice(pending, func(a, b int) bool { return pending[a].ActionName < pending[b].ActionName })
	listed := func(action gitlab.EventTypeValue, sort string) *gitlab.ListContributionEventsOptions {
		return &gitlab.ListContributionEventsOptions{Action: &action, Sort: &sort}
	}
	issues := gitlab.IssueEventTargetType
	opened := listed(gitlab.CreatedEventType, "desc")
	opened.TargetType = &issues
	pushed := listed(gitlab.PushedEventType, "asc")
	pushed.ListOptions = one
	commented, me := listed(gitlab.CommentedEventType, "desc"), must(reviewer.Users.CurrentUser()).ID
	found := report{
		"levels": levels,
		"custom": values{events.NewNote, events.NewIssue},
		"todos": each(pending, func(todo *gitlab.Todo) values {
			return values{todo.ActionName, todo.Target.Title}
		}),
		"opened": each(must(owner.Events.ListProjectVisibleEvents(project, opened)),
			func(event *gitlab.ContributionEvent) string { return event.TargetTitle }),
		"pushed": each(must(owner.Events.ListCurrentUserContributionEvents(pushed)),
			func(event *gitlab.ContributionEvent) values {
				return values{event.PushData.Ref, event.PushData.CommitTitle}
			}),
		"commented": each(must(reviewer.Users.ListUserContributionEvents(me, commented)),
			func(event *gitlab.ContributionEvent) string { return event.Note.Body }),
	}
	count := func() int { return len(must(todos.ListTodos(&gitlab.ListTodosOptions{}))) }
	assigned := gitlab.TodoAssigned
	_, err := todos.MarkTodoAsDone(must(todos.ListTodos(&gitlab.ListTodosOptions{Action: &assigned}))[0].ID)
	check(err)
	done := values{must(todos.ListTodos(&gitlab.ListTodosOptions{State: text("done")}))[0].State, count()}
	_, err = todos.MarkAllTodosAsDone()
	check(err)
	found["done"] = append(done, count())
	return found
}

func main() {
	parts := map[string]func() report{"repository": repository, "merge-requests": mergeRequests, "activity": activity}
	check(json.NewEncoder(os.Stdout).Encode(parts[os.Args[1]]()))
}
