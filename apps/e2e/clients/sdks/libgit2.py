"""Uses libgit2 through pygit2. Arguments: address of a repository, token, empty folder. Prints its results as JSON."""

import json
import os
import sys

import pygit2

url, token, folder = sys.argv[1:]
AUTHOR = pygit2.Signature("Wren", "wren@example.org")


class Callbacks(pygit2.RemoteCallbacks):
    """Sends the token after a challenge, and keeps the reason of a refused update of a ref."""

    refused = None

    def credentials(self, url, username_from_url, allowed_types):
        return pygit2.UserPass("oauth2", token)

    def push_update_reference(self, refname, message):
        if message is not None:
            self.refused = f"{refname}: {message}"


def commit(repository, branch, title, content):
    """Commits a file to a branch, which is created if it is missing."""
    with open(os.path.join(repository.workdir, "large.bin"), "wb") as file:
        file.write(content)
    repository.index.add("large.bin")
    tree = repository.index.write_tree()
    parent = repository.branches.get(branch) or repository.branches["main"]
    ref = f"refs/heads/{branch}"
    if branch not in repository.branches:
        repository.branches.create(branch, repository[parent.target])
    repository.create_commit(ref, AUTHOR, AUTHOR, title, tree, [parent.target])


def push(repository, *refspecs):
    callbacks = Callbacks()
    try:
        repository.remotes["origin"].push(list(refspecs), callbacks=callbacks)
    except pygit2.GitError as error:
        return str(error)
    return callbacks.refused


def clone(name):
    return pygit2.clone_repository(url, os.path.join(folder, name), callbacks=Callbacks())


first = clone("first")
report = {"cloned": first[first.head.target].message.strip()}
second = clone("second")
# Random bytes stay larger than the buffer of a request after compression.
commit(first, "libgit2-kept", "Large", os.urandom(3 * 1024 * 1024))
assert push(first, "refs/heads/libgit2-kept", "refs/heads/libgit2-kept:refs/heads/libgit2-gone") is None
second.remotes["origin"].fetch(callbacks=Callbacks())
report["fetched"] = second[second.branches["origin/libgit2-kept"].target].message
commit(second, "libgit2-kept", "Rival", b"rival")
report["rejected"] = push(second, "refs/heads/libgit2-kept")
assert push(first, ":refs/heads/libgit2-gone") is None
report["refused"] = push(first, ":refs/heads/main")
heads = first.remotes["origin"].ls_remotes(callbacks=Callbacks())
report["branches"] = sorted(head["name"] for head in heads if head["name"].startswith("refs/heads/"))
print(json.dumps(report))
