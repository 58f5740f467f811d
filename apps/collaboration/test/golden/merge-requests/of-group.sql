-- merge_requests_group_all_created_at_desc_20: $1 group, $2 is_admin, $3 viewer, $4 is_external
with
  read as materialized (
    select
      a.*,
      case
        when a.traversal_ids = :group::bigint[] then a.path
        else a.full_path
      end as seen_as
    from
      (
        select
          p.id as project_id
        from
          directory_namespaces home
          join directory_projects p on p.namespace_id = home.id
        where
          (
            home.traversal_ids >= :group::bigint[]::bigint[]
            and home.traversal_ids < (:group::bigint[]::bigint[]) [1 :array_length (:group::bigint[]::bigint[], 1) - 1] || ((:group::bigint[]::bigint[]) [array_length(:group::bigint[]::bigint[], 1)] + 1)
          )
      ) used
      join directory_projects living on living.id = used.project_id
      and not living.archived
      cross join lateral (
        select
          p.id as project_id,
          p.name,
          p.path,
          home.full_path || '/' || p.path as full_path,
          home.full_name || ' / ' || p.name as name_with_namespace,
          p.description,
          p.created_at,
          home.traversal_ids,
          p.emails_enabled,
          (
            p.issues_access_level = 'enabled'
            or (
              p.issues_access_level = 'private'
              and held.level >= 10
            )
          ) as reads_issues,
          (
            p.merge_requests_access_level = 'enabled'
            or (
              p.merge_requests_access_level = 'private'
              and held.level >= 10
            )
          )
          and coalesce(p.repository_access_level, 'enabled') <> 'disabled'
          and (
            held.level >= 20
            or (
              p.visibility <> 'private'
              and (
                held.level >= 10
                or coalesce(p.repository_access_level, 'enabled') = 'enabled'
              )
            )
          ) as reads_merge_requests,
          (
            p.snippets_access_level = 'enabled'
            or (
              p.snippets_access_level = 'private'
              and held.level >= 10
            )
          ) as reads_snippets,
          held.level >= 10 as is_member,
          held.level >= 15 as reads_confidential,
          held.level >= 20 as reads_internal
        from
          directory_projects p
          join directory_namespaces home on home.id = p.namespace_id
          cross join lateral (
            select
              case
                when :is_admin::boolean then 50
                when :viewer::bigint is null then 0
                else coalesce(
                  (
                    select
                      max(held.level)::integer
                    from
                      (
                        select
                          m.access_level as level
                        from
                          directory_memberships m
                        where
                          m.user_id = :viewer::bigint
                          and m.source_type = 'project'
                          and m.source_id = p.id
                          and (
                            m.expires_on is null
                            or m.expires_on > (statement_timestamp() at time zone 'UTC')::date
                          )
                        union all
                        select
                          least(s.access_level, m.access_level)
                        from
                          directory_shares s
                          join directory_namespaces invited on invited.id = s.group_id
                          join directory_memberships m on m.user_id = :viewer::bigint
                          and m.source_type = 'namespace'
                          and m.source_id = any (invited.traversal_ids)
                        where
                          s.source_type = 'project'
                          and s.source_id = p.id
                          and (
                            s.expires_on is null
                            or s.expires_on > (statement_timestamp() at time zone 'UTC')::date
                          )
                          and (
                            m.expires_on is null
                            or m.expires_on > (statement_timestamp() at time zone 'UTC')::date
                          )
                        union all
                        select
                          m.access_level as level
                        from
                          directory_memberships m
                        where
                          m.user_id = :viewer::bigint
                          and m.source_type = 'namespace'
                          and m.source_id = any (home.traversal_ids)
                          and (
                            m.expires_on is null
                            or m.expires_on > (statement_timestamp() at time zone 'UTC')::date
                          )
                        union all
                        select
                          least(s.access_level, m.access_level)
                        from
                          directory_shares s
                          join directory_namespaces invited on invited.id = s.group_id
                          join directory_memberships m on m.user_id = :viewer::bigint
                          and m.source_type = 'namespace'
                          and m.source_id = any (invited.traversal_ids)
                        where
                          s.source_type = 'namespace'
                          and s.source_id = any (home.traversal_ids)
                          and (
                            s.expires_on is null
                            or s.expires_on > (statement_timestamp() at time zone 'UTC')::date
                          )
                          and (
                            m.expires_on is null
                            or m.expires_on > (statement_timestamp() at time zone 'UTC')::date
                          )
                        union all
                        select
                          50
                        where
                          home.kind = 'user'
                          and home.owner_id = :viewer::bigint
                      ) held
                  ),
                  0
                )
              end as level
            offset
              0
          ) held
        where
          p.id = used.project_id
          and (
            p.visibility = 'public'
            or held.level >= 10
            or (
              p.visibility = 'internal'
              and :viewer::bigint is not null
              and not :is_external::boolean
            )
          )
        offset
          0
      ) a
    where
      a.reads_merge_requests
  )
select
  (
    select
      count(*)::int
    from
      (
        select
          1
        from
          read a
          cross join lateral (
            select
              i.*
            from
              (
                select
                  own.*,
                  a.full_path,
                  a.traversal_ids,
                  a.reads_internal,
                  a.seen_as
                from
                  merge_requests own
                where
                  own.project_id = a.project_id
              ) i
            offset
              0
          ) i
        limit
          10001
      ) c
  ) as counted,
  null::boolean as has_more,
  (
    select
      case
        when bool_or(i.is_heavy) then null
        else '[' || coalesce(
          string_agg(
            case
              when not i.is_heavy then (
                select
                  format(
                    '{"id":%s,"iid":%s,"project_id":%s,"title":%s,"description":%s,"state":"%s","created_at":"%s","updated_at":"%s","merged_by":%s,"merge_user":%s,"merged_at":%s,"closed_by":%s,"closed_at":%s,"target_branch":%s,"source_branch":%s,"user_notes_count":%s,"upvotes":%s,"downvotes":%s,"author":%s,"assignees":[%s],"assignee":%s,"reviewers":[%s],"source_project_id":%s,"target_project_id":%s,"labels":[%s],"draft":%s,"imported":%s,"imported_from":"%s","work_in_progress":%s,"milestone":%s,"merge_when_pipeline_succeeds":%s,"merge_status":"%s","detailed_merge_status":"%s","merge_after":%s,"sha":%s,"merge_commit_sha":%s,"squash_commit_sha":%s,"discussion_locked":%s,"should_remove_source_branch":%s,"force_remove_source_branch":%s,"prepared_at":"%s","reference":"%s","references":{"short":"!%s","relative":"%s","full":"%s"},"web_url":"http://localhost:8080/%s","time_stats":{"time_estimate":%s,"total_time_spent":%s,"human_time_estimate":%s,"human_total_time_spent":%s},"squash":%s,"squash_on_merge":%s,"task_completion_status":{"count":%s,"completed_count":%s},"has_conflicts":%s,"blocking_discussions_resolved":%s,"approvals_before_merge":null%s}',
                    i.id,
                    i.iid,
                    i.project_id,
                    to_json(i.title),
                    coalesce(to_json(i.description)::text, 'null'),
                    i.state,
                    to_char((i.created_at) at time zone 'UTC', 'YYYY-MM-DD"T"HH24:MI:SS.MS"Z"'),
                    to_char((i.updated_at) at time zone 'UTC', 'YYYY-MM-DD"T"HH24:MI:SS.MS"Z"'),
                    coalesce(
                      case
                        when i.merged_by_id is not null then (
                          select
                            format(
                              '{"id":%s,"username":"%s","public_email":%s,"name":%s,"state":"%s","locked":false,"avatar_url":%s,"web_url":"http://localhost:8080/%s"}',
                              u.id,
                              u.username,
                              coalesce(to_json(u.public_email)::text, 'null'),
                              to_json(u.name),
                              u.state,
                              coalesce(
                                to_json(
                                  case
                                    when left(u.avatar_url, 1) = '/' then 'http://localhost:8080' || u.avatar_url
                                    else u.avatar_url
                                  end
                                )::text,
                                'null'
                              ),
                              u.username
                            )
                          from
                            directory_users u
                          where
                            u.id = i.merged_by_id
                        )
                      end,
                      'null'
                    ),
                    coalesce(
                      case
                        when coalesce(i.merged_by_id, i.auto_merge_user_id) is not null then (
                          select
                            format(
                              '{"id":%s,"username":"%s","public_email":%s,"name":%s,"state":"%s","locked":false,"avatar_url":%s,"web_url":"http://localhost:8080/%s"}',
                              u.id,
                              u.username,
                              coalesce(to_json(u.public_email)::text, 'null'),
                              to_json(u.name),
                              u.state,
                              coalesce(
                                to_json(
                                  case
                                    when left(u.avatar_url, 1) = '/' then 'http://localhost:8080' || u.avatar_url
                                    else u.avatar_url
                                  end
                                )::text,
                                'null'
                              ),
                              u.username
                            )
                          from
                            directory_users u
                          where
                            u.id = coalesce(i.merged_by_id, i.auto_merge_user_id)
                        )
                      end,
                      'null'
                    ),
                    coalesce('"' || to_char((i.merged_at) at time zone 'UTC', 'YYYY-MM-DD"T"HH24:MI:SS.MS"Z"') || '"', 'null'),
                    coalesce(
                      case
                        when i.closed_by_id is not null then (
                          select
                            format(
                              '{"id":%s,"username":"%s","public_email":%s,"name":%s,"state":"%s","locked":false,"avatar_url":%s,"web_url":"http://localhost:8080/%s"}',
                              u.id,
                              u.username,
                              coalesce(to_json(u.public_email)::text, 'null'),
                              to_json(u.name),
                              u.state,
                              coalesce(
                                to_json(
                                  case
                                    when left(u.avatar_url, 1) = '/' then 'http://localhost:8080' || u.avatar_url
                                    else u.avatar_url
                                  end
                                )::text,
                                'null'
                              ),
                              u.username
                            )
                          from
                            directory_users u
                          where
                            u.id = i.closed_by_id
                        )
                      end,
                      'null'
                    ),
                    coalesce('"' || to_char((i.closed_at) at time zone 'UTC', 'YYYY-MM-DD"T"HH24:MI:SS.MS"Z"') || '"', 'null'),
                    to_json(i.target_branch),
                    to_json(i.source_branch),
                    i.public_notes_count + case
                      when i.reads_internal then i.internal_notes_count
                      else 0
                    end,
                    i.upvotes_count,
                    i.downvotes_count,
                    coalesce(
                      (
                        select
                          format(
                            '{"id":%s,"username":"%s","public_email":%s,"name":%s,"state":"%s","locked":false,"avatar_url":%s,"web_url":"http://localhost:8080/%s"}',
                            u.id,
                            u.username,
                            coalesce(to_json(u.public_email)::text, 'null'),
                            to_json(u.name),
                            u.state,
                            coalesce(
                              to_json(
                                case
                                  when left(u.avatar_url, 1) = '/' then 'http://localhost:8080' || u.avatar_url
                                  else u.avatar_url
                                end
                              )::text,
                              'null'
                            ),
                            u.username
                          )
                        from
                          directory_users u
                        where
                          u.id = i.author_id
                      ),
                      'null'
                    ),
                    array_to_string(assigned.texts, ','),
                    coalesce((assigned.texts) [1], 'null'),
                    array_to_string(reviewing.texts, ','),
                    coalesce((i.source_project_id)::text, 'null'),
                    i.project_id,
                    coalesce(
                      (
                        select
                          string_agg(
                            to_json(l.title)::text,
                            ','
                            order by
                              l.title,
                              l.id
                          )
                        from
                          label_links ll
                          join labels l on l.id = ll.label_id
                          and (
                            l.project_id = i.project_id
                            or l.group_id = any (i.traversal_ids)
                          )
                        where
                          ll.noteable_id = i.id
                          and ll.noteable_type = 'MergeRequest'
                      ),
                      ''
                    ),
                    case
                      when i.draft then 'true'
                      else 'false'
                    end,
                    case
                      when i.imported_from <> 'none' then 'true'
                      else 'false'
                    end,
                    i.imported_from,
                    case
                      when i.draft then 'true'
                      else 'false'
                    end,
                    coalesce(
                      case
                        when i.milestone_id is not null then (
                          select
                            format(
                              '{"id":%s,"iid":%s,"title":%s,"description":%s,"state":"%s","created_at":"%s","updated_at":"%s","due_date":%s,"start_date":%s,"expired":%s,"web_url":"http://localhost:8080/%s"%s%s}',
                              m.id,
                              m.iid,
                              to_json(m.title),
                              coalesce(to_json(m.description)::text, 'null'),
                              m.state,
                              to_char((m.created_at) at time zone 'UTC', 'YYYY-MM-DD"T"HH24:MI:SS.MS"Z"'),
                              to_char((m.updated_at) at time zone 'UTC', 'YYYY-MM-DD"T"HH24:MI:SS.MS"Z"'),
                              coalesce('"' || to_char(m.due_on, 'YYYY-MM-DD') || '"', 'null'),
                              coalesce('"' || to_char(m.start_on, 'YYYY-MM-DD') || '"', 'null'),
                              case
                                when m.due_on < (now() at time zone 'UTC')::date then 'true'
                                else 'false'
                              end,
                              case
                                when m.group_id is null then i.full_path
                                else (
                                  select
                                    'groups/' || home.full_path
                                  from
                                    directory_namespaces home
                                  where
                                    home.id = m.group_id
                                )
                              end || '/-/milestones/' || m.iid,
                              case
                                when m.project_id is not null then format(',"project_id":%s', m.project_id)
                              end,
                              case
                                when m.group_id is not null then format(',"group_id":%s', m.group_id)
                              end
                            )
                          from
                            milestones m
                          where
                            m.id = i.milestone_id
                            and (
                              m.project_id = i.project_id
                              or m.group_id = any (i.traversal_ids)
                            )
                        )
                      end,
                      'null'
                    ),
                    case
                      when i.state = 'opened'
                      and i.auto_merge_user_id is not null then 'true'
                      else 'false'
                    end,
                    i.merge_status,
                    case
                      when i.state <> 'opened' then 'not_open'
                      when i.merge_status in ('unchecked', 'cannot_be_merged_recheck') then 'unchecked'
                      when i.merge_after > now() then 'merge_time'
                      when i.draft then 'draft_status'
                      when i.commits_count = 0 then 'commits_status'
                      when (
                        coalesce((rules.set -> 'only_allow_merge_if_all_discussions_are_resolved')::boolean, false)
                        and exists (
                          select
                            1
                          from
                            notes n
                          where
                            n.noteable_id = i.id
                            and n.noteable_type = 'MergeRequest'
                            and n.thread_id is not null
                            and n.resolved_at is null
                            and not n.system
                        )
                      ) then 'discussions_not_resolved'
                      when exists (
                        select
                          1
                        from
                          approval_rules r
                        where
                          r.project_id = i.project_id
                          and coalesce(r.merge_request_id, 0) = case
                            when i.approval_rules_overwritten then i.id
                            else 0
                          end
                          and r.approvals_required > 0
                          and (
                            r.rule_type = 'any_approver'
                            or exists (
                              select
                                x.user_id
                              from
                                approval_rule_users x
                              where
                                x.rule_id = r.id
                              union all
                              select
                                m.user_id
                              from
                                approval_rule_groups g
                                join directory_memberships m on m.source_type = 'namespace'
                                and m.source_id = g.group_id
                                and (
                                  m.expires_on is null
                                  or m.expires_on > (now() at time zone 'UTC')::date
                                )
                              where
                                g.rule_id = r.id
                            )
                          )
                          and cardinality(
                            array(
                              select
                                a.user_id
                              from
                                merge_request_approvals a
                              where
                                a.merge_request_id = i.id
                                and (
                                  r.rule_type = 'any_approver'
                                  or exists (
                                    select
                                      1
                                    from
                                      approval_rule_users x
                                    where
                                      x.rule_id = r.id
                                      and x.user_id = a.user_id
                                  )
                                  or exists (
                                    select
                                      1
                                    from
                                      approval_rule_groups g
                                      join directory_memberships m on m.source_type = 'namespace'
                                      and m.source_id = g.group_id
                                      and m.user_id = a.user_id
                                      and (
                                        m.expires_on is null
                                        or m.expires_on > (now() at time zone 'UTC')::date
                                      )
                                    where
                                      g.rule_id = r.id
                                  )
                                )
                              order by
                                a.approved_at,
                                a.user_id
                            )
                          ) < r.approvals_required
                          and (
                            select
                              n.plan
                            from
                              directory_projects p
                              join directory_namespaces n on n.id = p.namespace_id
                            where
                              p.id = i.project_id
                          ) <> 'free'
                      ) then 'not_approved'
                      when i.merge_status = 'cannot_be_merged' then 'conflict'
                      when (
                        i.is_behind
                        and rules.set ->> 'merge_method' in ('ff', 'rebase_merge')
                      ) then 'need_rebase'
                      else coalesce(
                        case
                          when (rules.set -> 'only_allow_merge_if_pipeline_succeeds')::boolean then (
                            select
                              case
                                when found.status in ('created', 'pending', 'running') then 'ci_still_running'
                                when found.status = 'success'
                                or (
                                  found.status = 'skipped'
                                  and coalesce((rules.set -> 'allow_merge_on_skipped_pipeline')::boolean, false)
                                ) then null
                                else 'ci_must_pass'
                              end
                            from
                              (
                                select
                                  (
                                    select
                                      c.status
                                    from
                                      ci_pipelines c
                                    where
                                      c.sha = i.head_sha
                                      and c.project_id in (i.project_id, i.source_project_id)
                                      and not c.is_deleted
                                      and not c.is_tag
                                      and (
                                        c.ref = i.source_branch
                                        and c.project_id = coalesce(i.source_project_id, i.project_id)
                                        or c.ref = 'refs/merge-requests/' || i.iid || '/head'
                                        and c.project_id = i.project_id
                                      )
                                    order by
                                      c.ref = i.source_branch,
                                      c.id desc
                                    limit
                                      1
                                  ) as status
                              ) found
                          )
                        end,
                        'mergeable'
                      )
                    end,
                    coalesce('"' || to_char((i.merge_after) at time zone 'UTC', 'YYYY-MM-DD"T"HH24:MI:SS.MS"Z"') || '"', 'null'),
                    coalesce('"' || (i.head_sha) || '"', 'null'),
                    coalesce('"' || (i.merge_commit_sha) || '"', 'null'),
                    coalesce('"' || (i.squash_commit_sha) || '"', 'null'),
                    case
                      when i.discussion_locked then 'true'
                      when not i.discussion_locked then 'false'
                      else 'null'
                    end,
                    case
                      when i.should_remove_source_branch then 'true'
                      when not i.should_remove_source_branch then 'false'
                      else 'null'
                    end,
                    case
                      when i.force_remove_source_branch then 'true'
                      when not i.force_remove_source_branch then 'false'
                      else 'null'
                    end,
                    to_char((i.created_at) at time zone 'UTC', 'YYYY-MM-DD"T"HH24:MI:SS.MS"Z"'),
                    i.full_path || '!' || i.iid,
                    i.iid,
                    i.seen_as || '!' || i.iid,
                    i.full_path || '!' || i.iid,
                    i.full_path || '/-/merge_requests/' || i.iid,
                    i.time_estimate,
                    i.total_time_spent,
                    coalesce(
                      '"' || (
                        case
                          when i.time_estimate > 0 then concat_ws(
                            ' ',
                            nullif(i.time_estimate / 576000, 0) || 'mo',
                            nullif(i.time_estimate % 576000 / 144000, 0) || 'w',
                            nullif(i.time_estimate % 144000 / 28800, 0) || 'd',
                            nullif(i.time_estimate % 28800 / 3600, 0) || 'h',
                            nullif(i.time_estimate % 3600 / 60, 0) || 'm',
                            nullif(i.time_estimate % 60 / 1, 0) || 's'
                          )
                        end
                      ) || '"',
                      'null'
                    ),
                    coalesce(
                      '"' || (
                        case
                          when i.total_time_spent > 0 then concat_ws(
                            ' ',
                            nullif(i.total_time_spent / 576000, 0) || 'mo',
                            nullif(i.total_time_spent % 576000 / 144000, 0) || 'w',
                            nullif(i.total_time_spent % 144000 / 28800, 0) || 'd',
                            nullif(i.total_time_spent % 28800 / 3600, 0) || 'h',
                            nullif(i.total_time_spent % 3600 / 60, 0) || 'm',
                            nullif(i.total_time_spent % 60 / 1, 0) || 's'
                          )
                        end
                      ) || '"',
                      'null'
                    ),
                    case
                      when i.squash then 'true'
                      else 'false'
                    end,
                    case
                      when case rules.set ->> 'squash_option'
                        when 'always' then true
                        when 'never' then false
                        else i.squash
                      end then 'true'
                      else 'false'
                    end,
                    i.task_count,
                    i.completed_task_count,
                    case
                      when i.merge_status = 'cannot_be_merged' then 'true'
                      else 'false'
                    end,
                    case
                      when not (
                        coalesce((rules.set -> 'only_allow_merge_if_all_discussions_are_resolved')::boolean, false)
                        and exists (
                          select
                            1
                          from
                            notes n
                          where
                            n.noteable_id = i.id
                            and n.noteable_type = 'MergeRequest'
                            and n.thread_id is not null
                            and n.resolved_at is null
                            and not n.system
                        )
                      ) then 'true'
                      else 'false'
                    end,
                    case
                      when i.source_project_id <> i.project_id then format(
                        ',"allow_collaboration":%s,"allow_maintainer_to_push":%s',
                        case
                          when i.allow_collaboration then 'true'
                          else 'false'
                        end,
                        case
                          when i.allow_collaboration then 'true'
                          else 'false'
                        end
                      )
                    end
                  )
                from
                  (
                    select
                      array_agg(
                        format(
                          '{"id":%s,"username":"%s","public_email":%s,"name":%s,"state":"%s","locked":false,"avatar_url":%s,"web_url":"http://localhost:8080/%s"}',
                          u.id,
                          u.username,
                          coalesce(to_json(u.public_email)::text, 'null'),
                          to_json(u.name),
                          u.state,
                          coalesce(
                            to_json(
                              case
                                when left(u.avatar_url, 1) = '/' then 'http://localhost:8080' || u.avatar_url
                                else u.avatar_url
                              end
                            )::text,
                            'null'
                          ),
                          u.username
                        )
                        order by
                          s.position
                      ) as texts
                    from
                      directory_users u,
                      merge_request_assignees s
                    where
                      s.merge_request_id = i.id
                      and u.id = s.user_id
                  ) assigned
                  cross join (
                    select
                      array_agg(
                        format(
                          '{"id":%s,"username":"%s","public_email":%s,"name":%s,"state":"%s","locked":false,"avatar_url":%s,"web_url":"http://localhost:8080/%s"}',
                          u.id,
                          u.username,
                          coalesce(to_json(u.public_email)::text, 'null'),
                          to_json(u.name),
                          u.state,
                          coalesce(
                            to_json(
                              case
                                when left(u.avatar_url, 1) = '/' then 'http://localhost:8080' || u.avatar_url
                                else u.avatar_url
                              end
                            )::text,
                            'null'
                          ),
                          u.username
                        )
                        order by
                          s.position
                      ) as texts
                    from
                      directory_users u,
                      merge_request_reviewers s
                    where
                      s.merge_request_id = i.id
                      and u.id = s.user_id
                  ) reviewing
                  cross join (
                    select
                      (
                        select
                          p.merge_settings
                        from
                          directory_projects p
                        where
                          p.id = i.project_id
                      ) as set
                    offset
                      0
                  ) rules
              )
            end,
            ','
            order by
              i.created_at desc,
              i.id desc
          ),
          ''
        ) || ']'
      end
    from
      (
        select
          i.*,
          sum(
            coalesce(octet_length(i.description), 0) + coalesce(
              (
                select
                  coalesce(octet_length(m.description), 0)
                from
                  milestones m
                where
                  m.id = i.milestone_id
              ),
              0
            )
          ) over () > 524288 as is_heavy
        from
          (
            select
              i.*
            from
              read a
              cross join lateral (
                select
                  i.*
                from
                  (
                    select
                      own.*,
                      a.full_path,
                      a.traversal_ids,
                      a.reads_internal,
                      a.seen_as
                    from
                      merge_requests own
                    where
                      own.project_id = a.project_id
                  ) i
                order by
                  i.created_at desc,
                  i.id desc
                limit
                  20
              ) i
            order by
              i.created_at desc,
              i.id desc
            limit
              20
          ) i
      ) i
  ) as json
