-- issues_group_all_updated_at_desc_20: $1 group, $2 is_admin, $3 viewer, $4 is_external
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
      a.reads_issues
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
                  issues own
                where
                  own.project_id = a.project_id
              ) i
            where
              a.reads_issues
              and (
                not i.confidential
                or a.reads_confidential
                or (
                  i.author_id = :viewer::bigint
                  and a.is_member
                )
                or :viewer::bigint in (
                  select
                    seen.user_id
                  from
                    issue_assignees seen
                  where
                    seen.issue_id = i.id
                )
              )
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
                    '{"id":%s,"iid":%s,"project_id":%s,"title":%s,"description":%s,"state":"%s","created_at":"%s","updated_at":"%s","closed_at":%s,"closed_by":%s,"labels":[%s],"milestone":%s,"assignees":[%s],"author":%s,"type":"%s","assignee":%s,"user_notes_count":%s,"merge_requests_count":%s,"upvotes":%s,"downvotes":%s,"due_date":%s,"confidential":%s,"discussion_locked":%s,"issue_type":"%s","web_url":"http://localhost:8080/%s","time_stats":{"time_estimate":%s,"total_time_spent":%s,"human_time_estimate":%s,"human_total_time_spent":%s},"task_completion_status":{"count":%s,"completed_count":%s},"has_tasks":%s,"task_status":"%s","weight":%s,"blocking_issues_count":%s,"_links":{"self":"http://localhost:8080/api/v4/projects/%s","notes":"http://localhost:8080/api/v4/projects/%s","award_emoji":"http://localhost:8080/api/v4/projects/%s","project":"http://localhost:8080/api/v4/projects/%s","closed_as_duplicate_of":%s},"references":{"short":"#%s","relative":"%s","full":"%s"},"severity":"UNKNOWN","moved_to_id":%s,"imported":%s,"imported_from":"%s","service_desk_reply_to":null,"epic_iid":%s,"epic":%s,"iteration":null,"health_status":null}',
                    i.id,
                    i.iid,
                    i.project_id,
                    to_json(i.title),
                    coalesce(to_json(i.description)::text, 'null'),
                    i.state,
                    to_char((i.created_at) at time zone 'UTC', 'YYYY-MM-DD"T"HH24:MI:SS.MS"Z"'),
                    to_char((i.updated_at) at time zone 'UTC', 'YYYY-MM-DD"T"HH24:MI:SS.MS"Z"'),
                    coalesce('"' || to_char((i.closed_at) at time zone 'UTC', 'YYYY-MM-DD"T"HH24:MI:SS.MS"Z"') || '"', 'null'),
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
                          and ll.noteable_type = 'Issue'
                      ),
                      ''
                    ),
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
                    array_to_string(assigned.texts, ','),
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
                    upper(i.issue_type),
                    coalesce((assigned.texts) [1], 'null'),
                    i.public_notes_count + case
                      when i.reads_internal then i.internal_notes_count
                      else 0
                    end,
                    (
                      select
                        coalesce(sum(of_project.count), 0)
                      from
                        (
                          select
                            m.project_id,
                            count(distinct m.id) as count
                          from
                            merge_request_issues r
                            join merge_requests m on m.id = r.merge_request_id
                          where
                            r.issue_id = i.id
                            and r.closes
                            and m.target_branch = coalesce(
                              (
                                select
                                  own.default_branch
                                from
                                  directory_projects own
                                where
                                  own.id = m.project_id
                              ),
                              m.target_branch
                            )
                          group by
                            m.project_id
                        ) of_project
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
                            p.id = of_project.project_id
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
                        ) seen_merging
                      where
                        seen_merging.reads_merge_requests
                    ),
                    i.upvotes_count,
                    i.downvotes_count,
                    coalesce('"' || to_char(i.due_on, 'YYYY-MM-DD') || '"', 'null'),
                    case
                      when i.confidential then 'true'
                      else 'false'
                    end,
                    case
                      when i.discussion_locked then 'true'
                      when not i.discussion_locked then 'false'
                      else 'null'
                    end,
                    i.issue_type,
                    i.full_path || '/-/issues/' || i.iid,
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
                    i.task_count,
                    i.completed_task_count,
                    case
                      when i.task_count > 0 then 'true'
                      else 'false'
                    end,
                    i.completed_task_count || ' of ' || i.task_count || ' checklist item' || case
                      when i.task_count = 1 then ''
                      else 's'
                    end || ' completed',
                    coalesce((i.weight)::text, 'null'),
                    (
                      select
                        count(*)
                      from
                        issue_links held
                        join issues blocked on blocked.id = held.target_id
                      where
                        held.source_id = i.id
                        and held.link_type = 'blocks'
                        and blocked.project_id = i.project_id
                        and blocked.state = 'opened'
                        and not blocked.confidential
                    ),
                    i.project_id || '/issues/' || i.iid,
                    i.project_id || '/issues/' || i.iid || '/notes',
                    i.project_id || '/issues/' || i.iid || '/award_emoji',
                    i.project_id,
                    coalesce(
                      '"http://localhost:8080/api/v4/projects/' || (
                        case
                          when i.duplicated_to_id is not null then (
                            select
                              c.project_id || '/issues/' || c.iid
                            from
                              issues c
                            where
                              c.id = i.duplicated_to_id
                              and not c.confidential
                              and (
                                c.project_id = i.project_id
                                or exists (
                                  select
                                    1
                                  from
                                    directory_projects cp
                                  where
                                    cp.id = c.project_id
                                    and cp.visibility = 'public'
                                    and cp.issues_access_level = 'enabled'
                                )
                              )
                          )
                        end
                      ) || '"',
                      'null'
                    ),
                    i.iid,
                    i.seen_as || '#' || i.iid,
                    i.full_path || '#' || i.iid,
                    coalesce((i.moved_to_id)::text, 'null'),
                    case
                      when i.imported_from <> 'none' then 'true'
                      else 'false'
                    end,
                    i.imported_from,
                    coalesce((served.iid)::text, 'null'),
                    case
                      when served.id is not null then format(
                        '{"id":%s,"iid":%s,"title":%s,"url":"/groups/%s","group_id":%s}',
                        served.id,
                        served.iid,
                        to_json(served.title),
                        served.full_path || '/-/epics/' || served.iid,
                        served.group_id
                      )
                      else 'null'
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
                      issue_assignees s
                      join directory_users u on u.id = s.user_id
                    where
                      s.issue_id = i.id
                  ) assigned
                  left join lateral (
                    select
                      goal.id,
                      goal.iid,
                      goal.title,
                      goal.group_id,
                      its.full_path
                    from
                      epic_issues serves
                      join epics goal on goal.id = serves.epic_id
                      cross join lateral (
                        select
                          g.id as group_id,
                          g.name,
                          g.path,
                          g.full_path,
                          g.parent_id,
                          g.avatar_url,
                          g.traversal_ids,
                          g.emails_enabled,
                          true as reads_epics,
                          held.level >= 10 as is_member,
                          held.level >= 15 as reads_confidential,
                          held.level >= 20 as reads_internal
                        from
                          directory_namespaces g
                          cross join lateral (
                            select
                              case
                                when :is_admin::boolean then 50
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
                                          and m.source_type = 'namespace'
                                          and m.source_id = any (g.traversal_ids)
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
                                          and s.source_id = any (g.traversal_ids)
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
                                          g.kind = 'user'
                                          and g.owner_id = :viewer::bigint
                                      ) held
                                  ),
                                  0
                                )
                              end as level
                            offset
                              0
                          ) held
                        where
                          g.id = goal.group_id
                          and g.kind = 'group'
                          and g.plan <> 'free'
                          and :viewer::bigint is not null
                          and (
                            g.visibility = 'public'
                            or held.level >= 10
                            or (
                              g.visibility = 'internal'
                              and not :is_external::boolean
                            )
                          )
                        offset
                          0
                      ) its
                    where
                      serves.issue_id = i.id
                      and its.reads_epics
                      and (
                        not goal.confidential
                        or its.reads_confidential
                      )
                  ) served on true
              )
            end,
            ','
            order by
              i.updated_at desc,
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
                      issues own
                    where
                      own.project_id = a.project_id
                  ) i
                where
                  a.reads_issues
                  and (
                    not i.confidential
                    or a.reads_confidential
                    or (
                      i.author_id = :viewer::bigint
                      and a.is_member
                    )
                    or :viewer::bigint in (
                      select
                        seen.user_id
                      from
                        issue_assignees seen
                      where
                        seen.issue_id = i.id
                    )
                  )
                order by
                  i.updated_at desc,
                  i.id desc
                limit
                  20
              ) i
            order by
              i.updated_at desc,
              i.id desc
            limit
              20
          ) i
      ) i
  ) as json
