# Uses GitLab::API::v4 as its documentation shows. Prints the results of one part, named by the argument, as JSON.

use strict;
use warnings;
use utf8;
use GitLab::API::v4;
use JSON;
use MIME::Base64 qw(decode_base64);

my $URL = "$ENV{BASE_URL}/api/v4";
my $owner = GitLab::API::v4->new(url => $URL, private_token => $ENV{OWNER_TOKEN});
my $reviewer = GitLab::API::v4->new(url => $URL, access_token => $ENV{REVIEWER_TOKEN});
my $project = $ENV{PROJECT_ID};
my $FILE = 'src/größe "1".txt';
# The client escapes bytes of a path, and characters of a body.
utf8::encode(my $file_in_path = $FILE);

# Routes for which this client has no method.
sub request {
    my ($api, $verb, $path, $values) = @_;
    my %options = (headers => $api->_auth_headers, ($verb eq 'GET' ? 'query' : 'content') => $values);
    return $api->rest_client->request($verb, $path, [], \%options);
}

# The client returns nothing for a missing resource, and dies for other refusals.
sub refusal {
    my ($call) = @_;
    eval { $call->() };
    my $answer = $owner->rest_client->http_tiny_response;
    return 'not refused' if $answer->{success};
    return [ $answer->{status} + 0, decode_json($answer->{content})->{message} ];
}

sub paths { return [ sort map { $_->{new_path} } @{ $_[0] } ] }
sub pluck { my ($rows, @keys) = @_; return [ map { my $row = $_; @keys > 1 ? [ @$row{@keys} ] : $row->{ $keys[0] } } @$rows ] }

sub repository {
    my $second = { branch => 'main', content => "one\ntwo\nthree\nfour\n", commit_message => 'Second' };
    $owner->edit_file($project, 'README.md', $second);
    my $feature = $owner->create_branch($project, { branch => 'feature/x', ref => 'main' });
    my $commit = $owner->create_commit($project, {
        branch => 'feature/x',
        commit_message => 'Change',
        actions => [
            { action => 'create', file_path => $FILE, content => "big\n" },
            { action => 'update', file_path => 'README.md', content => "one\n2\nthree\nfour\n" },
        ],
    });
    my $comment = { note => 'A note', path => 'README.md', line => 2, line_type => 'new' };
    $owner->create_commit_comment($project, $commit->{id}, $comment);
    my $compared = $owner->compare($project, { from => 'main', to => 'feature/x' });
    $owner->create_tag($project, { tag_name => 'v1.0', ref => 'main', message => 'The first' });
    my %on_feature = (ref => 'feature/x');
    my $base = request($owner, 'GET', "projects/$project/repository/merge_base", { 'refs[]' => [ 'main', 'feature/x' ] });
    my $blame = request($owner, 'GET', "projects/$project/repository/files/README.md/blame", \%on_feature);
    my %again = (branch => 'main', content => '', commit_message => 'Again');
    my %report = (
        branch => [ $feature->{name}, $feature->{commit}{title}, $feature->{default} ],
        branches => [ sort @{ pluck($owner->paginator('branches', $project, { per_page => 1 })->all, 'name') } ],
        merged => $base->{id} eq $feature->{commit}{id} ? JSON::true : JSON::false,
        file => [
            $owner->file($project, 'README.md', { ref => 'main' })->{file_path},
            decode_base64($owner->file($project, $file_in_path, \%on_feature)->{content}),
        ],
        raw => $owner->raw_file($project, 'README.md', { ref => 'HEAD' }),
        blame => [ map { [ $_->{commit}{message}, $_->{lines} ] } @$blame ],
        commits => pluck($owner->paginator('commits', $project, { ref_name => 'feature/x', per_page => 1 })->all, 'title'),
        commit => [ $commit->{title}, @{ $commit->{stats} }{qw(additions deletions)} ],
        diff => paths($owner->commit_diff($project, $commit->{id})),
        refs => pluck($owner->commit_refs($project, $commit->{id}), 'type', 'name'),
        comments => pluck($owner->commit_comments($project, $commit->{id}), 'note', 'path', 'line'),
        compare => [ pluck($compared->{commits}, 'title'), paths($compared->{diffs}) ],
        tree => pluck($owner->paginator('tree', $project, { %on_feature, recursive => 1, per_page => 1 })->all, 'path'),
        contributors => pluck($owner->contributors($project), 'commits'),
        tags => [ map { [ @$_{qw(name message)}, $_->{commit}{title} ] } @{ $owner->tags($project) } ],
        archive => unpack('H4', $owner->archive($project, { sha => 'v1.0' })),
        missing => refusal(sub { $owner->file($project, 'none', { ref => 'main' }) }),
        unknown => refusal(sub { $owner->file($project, 'README.md', { ref => 'none' }) }),
        again => refusal(sub { $owner->create_file($project, 'README.md', \%again) }),
    );
    $owner->delete_file($project, 'README.md', { branch => 'feature/x', commit_message => 'Remove' });
    my $removed = $owner->commit($project, 'feature/x')->{title};
    $owner->delete_tag($project, 'v1.0');
    $owner->delete_branch($project, 'feature/x');
    my $gone = refusal(sub { $owner->branch($project, 'feature/x') });
    return { %report, deleted => [ $removed, scalar @{ $owner->tags($project) }, $gone->[0] ] };
}

sub merge_requests {
    $owner->create_commit($project, {
        branch => 'topic',
        start_branch => 'main',
        commit_message => 'Add code',
        actions => [ { action => 'create', file_path => 'code.txt', content => "a\nb\nc\n" } ],
    });
    my $created = $owner->create_merge_request($project, {
        source_branch => 'topic',
        target_branch => 'main',
        title => 'Draft: Code',
        labels => 'new,small',
        reviewer_ids => [ $reviewer->current_user->{id} ],
        remove_source_branch => JSON::true,
    });
    my $iid = $created->{iid};
    my $path = "projects/$project/merge_requests/$iid";
    $owner->edit_merge_request($project, $iid, { title => 'Code', labels => '' });
    my $note = $reviewer->create_merge_request_note($project, $iid, { body => 'A note' });
    $reviewer->edit_merge_request_note($project, $iid, $note->{id}, { body => 'Edited' });
    my %at = (position_type => 'text', old_path => 'code.txt', new_path => 'code.txt', new_line => 2);
    my $thread = $reviewer->create_merge_request_discussion($project, $iid, {
        body => "Better:\n```suggestion:-0+0\nB\n```",
        position => { %{ $created->{diff_refs} }, %at },
    });
    $reviewer->create_merge_request_discussion_note($project, $iid, $thread->{id}, { body => 'A reply' });
    my $first = $thread->{notes}[0];
    my $suggestion = $first->{suggestions}[0];
    my $draft = request($reviewer, 'POST', "$path/draft_notes", { note => 'Looks good' });
    my $drafts = pluck(request($reviewer, 'GET', "$path/draft_notes"), 'note');
    request($reviewer, 'PUT', "$path/draft_notes/$draft->{id}/publish");
    my %rule = (name => 'All', rule_type => 'any_approver', approvals_required => 1);
    my $rule = request($owner, 'POST', "projects/$project/approval_rules", \%rule);
    request($reviewer, 'POST', "$path/approve");
    my $approved = request($owner, 'GET', "$path/approvals");
    my $state = request($owner, 'GET', "$path/approval_state");
    request($reviewer, 'POST', "$path/unapprove");
    my $applied = request($owner, 'PUT', "suggestions/$suggestion->{id}/apply");
    my $head = $owner->branch($project, 'topic')->{commit}{id};
    request($reviewer, 'POST', "$path/approve", { sha => $head });
    my $question = $owner->create_merge_request_discussion($project, $iid, { body => 'A question' });
    $owner->resolve_merge_request_discussion($project, $iid, $question->{id}, { resolved => JSON::true });
    my @threads = map { $owner->merge_request_discussion($project, $iid, $_->{id}) } $thread, $question;
    request($owner, 'DELETE', "projects/$project/approval_rules/$rule->{id}");
    my $shown = $owner->merge_request($project, $iid);
    my %in_order = (order_by => 'created_at', sort => 'asc', per_page => 3);
    my @notes = grep { !$_->{system} } @{ $owner->paginator('merge_request_notes', $project, $iid, \%in_order)->all };
    my %again = (source_branch => 'topic', target_branch => 'main', title => 'Twice');
    my $listed = $owner->merge_requests($project, { state => 'opened', source_branch => 'topic' });
    my %report = (
        created => [ @$created{qw(title draft)}, [ sort @{ $created->{labels} } ], pluck($created->{reviewers}, 'username') ],
        shown => [ @$shown{qw(title draft labels state changes_count)} ],
        listed => [ map { $_->{iid} == $iid ? JSON::true : JSON::false } @$listed ],
        commits => pluck($owner->merge_request_commits($project, $iid), 'title'),
        changes => paths($owner->merge_request_with_changes($project, $iid)->{changes}),
        versions => scalar @{ $owner->merge_request_diff_versions($project, $iid) },
        participants => scalar @{ request($owner, 'GET', "$path/participants") },
        notes => pluck(\@notes, 'body'),
        position => [ @{ $first->{position} }{qw(new_path new_line old_line)} ],
        suggestion => [ @$suggestion{qw(from_content to_content)}, $applied->{applied} ],
        resolved => [ map { $_->{notes}[0]{resolved} } @threads ],
        drafts => $drafts,
        approvals => [
            $approved->{approved}, [ map { $_->{user}{username} } @{ $approved->{approved_by} } ], $approved->{approvals_left},
        ],
        rules => pluck($state->{rules}, 'name', 'rule_type', 'approved'),
        duplicate => refusal(sub { $owner->create_merge_request($project, \%again) })->[0],
    );
    my $merged = $owner->accept_merge_request($project, $iid, { sha => $shown->{sha} });
    return { %report, merged => [ $merged->{state}, $owner->raw_file($project, 'code.txt', { ref => 'main' }) ] };
}

sub activity {
    my @levels = ($reviewer->global_notification_settings->{level});
    push @levels, $reviewer->set_global_notification_settings({ level => 'watch' })->{level};
    my %custom = (level => 'custom', new_note => JSON::true);
    my $events = $reviewer->set_project_notification_settings($project, \%custom)->{events};
    push @levels, $owner->set_group_notification_settings($ENV{GROUP_ID}, { level => 'mention' })->{level};
    my $todos = $reviewer->paginator('todos', { state => 'pending', type => 'Issue', per_page => 1 })->all;
    my $opened = $owner->project_events($project, { target_type => 'issue', action => 'created' });
    my $pushed = $owner->all_events({ action => 'pushed', sort => 'asc', per_page => 1 });
    my $commented = $reviewer->user_events($reviewer->current_user->{id}, { action => 'commented' });
    my @done = $reviewer->mark_todo_done($reviewer->todos({ action => 'assigned' })->[0]{id})->{state};
    push @done, scalar @{ $reviewer->todos };
    $reviewer->mark_all_todos_done;
    push @done, scalar @{ $reviewer->todos };
    return {
        levels => \@levels,
        custom => [ @$events{qw(new_note new_issue)} ],
        todos => [ sort { $a->[0] cmp $b->[0] } map { [ $_->{action_name}, $_->{target}{title} ] } @$todos ],
        opened => pluck($opened, 'target_title'),
        pushed => [ map { [ @{ $_->{push_data} }{qw(ref commit_title)} ] } @$pushed ],
        commented => [ map { $_->{note}{body} } @$commented ],
        done => \@done,
    };
}

my %parts = (repository => \&repository, 'merge-requests' => \&merge_requests, activity => \&activity);
print encode_json($parts{ $ARGV[0] }->());
