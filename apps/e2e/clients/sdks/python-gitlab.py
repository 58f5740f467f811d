"""Uses python-gitlab as its documentation shows. Prints the results of one part, named by the argument, as JSON."""

import json
import os
import sys

import gitlab

BASE_URL = os.environ["BASE_URL"]
owner = gitlab.Gitlab(BASE_URL, private_token=os.environ["OWNER_TOKEN"])
reviewer = gitlab.Gitlab(BASE_URL, oauth_token=os.environ["REVIEWER_TOKEN"])
reviewer.auth()
project = owner.projects.get(int(os.environ["PROJECT_ID"]))
FILE = 'src/größe "1".txt'


def refusal(request):
    try:
        request()
    except gitlab.exceptions.GitlabError as error:
        return [error.response_code, error.error_message]
    return "not refused"


def paths(diffs):
    return sorted(diff["new_path"] for diff in diffs)


def repository():
    readme = project.files.get("README.md", ref="main")
    readme.content = "one\ntwo\nthree\nfour\n"
    readme.save(branch="main", commit_message="Second")
    feature = project.branches.create({"branch": "feature/x", "ref": "main"})
    commit = project.commits.create(
        {
            "branch": "feature/x",
            "commit_message": "Change",
            "actions": [
                {"action": "create", "file_path": FILE, "content": "big\n"},
                {"action": "update", "file_path": "README.md", "content": "one\n2\nthree\nfour\n"},
            ],
        }
    )
    commit.comments.create({"note": "A note", "path": "README.md", "line": 2, "line_type": "new"})
    compared = project.repository_compare("main", "feature/x")
    tag = project.tags.create({"tag_name": "v1.0", "ref": "main", "message": "The first"})
    report = {
        "branch": [feature.name, feature.commit["title"], feature.default],
        "branches": sorted(branch.name for branch in project.branches.list(iterator=True)),
        "merged": project.repository_merge_base(["main", "feature/x"])["id"] == feature.commit["id"],
        "file": [readme.file_path, project.files.get(FILE, ref="feature/x").decode().decode()],
        "raw": project.files.raw(file_path="README.md", ref="HEAD").decode(),
        "blame": [[part["commit"]["message"], part["lines"]] for part in project.files.blame("README.md", ref="feature/x")],
        "commits": [one.title for one in project.commits.list(ref_name="feature/x", iterator=True, per_page=1)],
        "commit": [commit.title, commit.stats["additions"], commit.stats["deletions"]],
        "diff": paths(project.commits.get(commit.id).diff()),
        "refs": [[ref["type"], ref["name"]] for ref in commit.refs()],
        "comments": [[one.note, one.path, one.line] for one in commit.comments.list()],
        "compare": [[one["title"] for one in compared["commits"]], paths(compared["diffs"])],
        "tree": [entry["path"] for entry in project.repository_tree(ref="feature/x", recursive=True, iterator=True)],
        "contributors": [one["commits"] for one in project.repository_contributors()],
        "tags": [[one.name, one.message, one.commit["title"]] for one in project.tags.list()],
        "archive": project.repository_archive(sha="v1.0", format="tar.gz")[:2].hex(),
        "missing": refusal(lambda: project.files.get("none", ref="main")),
        "unknown": refusal(lambda: project.files.get("README.md", ref="none")),
        "again": refusal(
            lambda: project.files.create(
                {"file_path": "README.md", "branch": "main", "content": "", "commit_message": "Again"}
            )
        ),
    }
    project.files.delete(file_path="README.md", commit_message="Remove", branch="feature/x")
    removed = project.commits.get("feature/x").title
    tag.delete()
    feature.delete()
    report["deleted"] = [removed, len(project.tags.list()), refusal(lambda: project.branches.get("feature/x"))[0]]
    return report


def merge_requests():
    project.commits.create(
        {
            "branch": "topic",
            "start_branch": "main",
            "commit_message": "Add code",
            "actions": [{"action": "create", "file_path": "code.txt", "content": "a\nb\nc\n"}],
        }
    )
    request = project.mergerequests.create(
        {
            "source_branch": "topic",
            "target_branch": "main",
            "title": "Draft: Code",
            "labels": ["new", "small"],
            "reviewer_ids": [reviewer.user.id],
            "remove_source_branch": True,
        }
    )
    created = [request.title, request.draft, sorted(request.labels), [one["username"] for one in request.reviewers]]
    request.title = "Code"
    request.labels = []
    request.save()
    seen = reviewer.projects.get(project.id).mergerequests.get(request.iid)
    note = seen.notes.create({"body": "A note"})
    note.body = "Edited"
    note.save()
    at = {**request.diff_refs, "position_type": "text", "old_path": "code.txt", "new_path": "code.txt", "new_line": 2}
    thread = seen.discussions.create({"body": "Better:\n```suggestion:-0+0\nB\n```", "position": at})
    thread.notes.create({"body": "A reply"})
    (suggestion,) = thread.attributes["notes"][0]["suggestions"]
    path = f"/projects/{project.id}/merge_requests/{request.iid}/draft_notes"
    draft = reviewer.http_post(path, post_data={"note": "Looks good"})
    drafts = [one["note"] for one in reviewer.http_list(path, get_all=True)]
    reviewer.http_request("put", f"{path}/{draft['id']}/publish")
    rule = project.approvalrules.create({"name": "All", "rule_type": "any_approver", "approvals_required": 1})
    seen.approve()
    approved = request.approvals.get()
    state = request.approval_state.get()
    seen.unapprove()
    applied = owner.http_put(f"/suggestions/{suggestion['id']}/apply")
    seen.approve(sha=project.branches.get("topic").commit["id"])
    resolved = request.discussions.get(thread.id)
    open_thread = request.discussions.create({"body": "A question"})
    open_thread.resolved = True
    open_thread.save()
    rule.delete()
    shown = project.mergerequests.get(request.iid)
    report = {
        "created": created,
        "shown": [shown.title, shown.draft, shown.labels, shown.state, shown.changes_count],
        "listed": [one.iid == request.iid for one in project.mergerequests.list(state="opened", source_branch="topic")],
        "commits": [one.title for one in request.commits()],
        "changes": paths(request.changes()["changes"]),
        "versions": len(request.diffs.list()),
        "participants": len(request.participants()),
        "notes": [one.body for one in request.notes.list(order_by="created_at", sort="asc", get_all=True) if not one.system],
        "position": [thread.attributes["notes"][0]["position"][key] for key in ("new_path", "new_line", "old_line")],
        "suggestion": [suggestion["from_content"], suggestion["to_content"], applied["applied"]],
        "resolved": [resolved.attributes["notes"][0]["resolved"], open_thread.attributes["notes"][0]["resolved"]],
        "drafts": drafts,
        "approvals": [approved.approved, [one["user"]["username"] for one in approved.approved_by], approved.approvals_left],
        "rules": [[one["name"], one["rule_type"], one["approved"]] for one in state.rules],
        "duplicate": refusal(
            lambda: project.mergerequests.create({"source_branch": "topic", "target_branch": "main", "title": "Twice"})
        )[0],
    }
    merged = shown.merge(sha=shown.sha)
    report["merged"] = [merged["state"], project.files.raw("code.txt", ref="main").decode()]
    return report


def activity():
    settings = reviewer.notificationsettings.get()
    levels = [settings.level]
    settings.level = "watch"
    settings.save()
    levels.append(reviewer.notificationsettings.get().level)
    of_project = reviewer.projects.get(project.id).notificationsettings.get()
    of_project.level = "custom"
    of_project.new_note = True
    of_project.save()
    of_group = owner.groups.get(int(os.environ["GROUP_ID"])).notificationsettings.get()
    of_group.level = "mention"
    of_group.save()
    todos = reviewer.todos.list(state="pending", type="Issue", iterator=True)
    report = {
        "levels": [*levels, of_group.level],
        "custom": [of_project.events["new_note"], of_project.events["new_issue"]],
        "todos": sorted([todo.action_name, todo.target["title"]] for todo in todos),
        "opened": [event.target_title for event in project.events.list(target_type="issue", action="created")],
        "pushed": [
            [event.push_data["ref"], event.push_data["commit_title"]]
            for event in owner.events.list(action="pushed", sort="asc", per_page=1, get_all=False)
        ],
        "commented": [
            event.note["body"] for event in reviewer.users.get(reviewer.user.id).events.list(action="commented")
        ],
    }
    first = reviewer.todos.list(action="assigned")[0]
    report["done"] = [first.mark_as_done()["state"], len(reviewer.todos.list())]
    reviewer.todos.mark_all_as_done()
    report["done"].append(len(reviewer.todos.list()))
    return report


print(json.dumps({"repository": repository, "merge-requests": merge_requests, "activity": activity}[sys.argv[1]]()))
