package identity

import (
	"context"
	"fmt"
	"slices"
	"strings"
	"time"

	"berth/environment"
)

// FirstAdminLink makes the link for the first admin; "" when there is one.
func (s *Service) FirstAdminLink(ctx context.Context) (environment.Secret, error) {
	there, err := s.store.HasAdmin(ctx)
	if err != nil || there {
		return environment.Secret{}, err
	}
	link := environment.Link{Kind: environment.LinkFirstAdmin, InstanceAdmin: true}
	_, text, err := s.makeLink(ctx, environment.System(), link, s.opts.FirstAdminLife, "instance.first_admin_link_created")
	return text, err
}

// makeLink stores a link; its token is shown once.
func (s *Service) makeLink(ctx context.Context, actor environment.Actor, l environment.Link, life time.Duration, action string) (environment.Link, environment.Secret, error) {
	text, token, err := environment.NewToken(environment.TokenLink, s.random)
	if err != nil {
		return environment.Link{}, environment.Secret{}, fmt.Errorf("make a link: %w", err)
	}
	l.ID, l.CreatedBy, l.CreatedAt = environment.NewID(), actor.Name, s.now()
	l.ExpiresAt = l.CreatedAt.Add(life)
	entry := s.entry(ctx, actor, action, "link", l.ID, linkDetails(l))
	if l.PersonID != nil {
		entry.EntityType, entry.EntityID = "person", l.PersonID.String()
	}
	if err := s.store.CreateLink(ctx, l, token.Hash[:], entry); err != nil {
		return environment.Link{}, environment.Secret{}, err
	}
	return l, text, nil
}

func linkDetails(l environment.Link) map[string]any {
	details := map[string]any{"linkId": l.ID, "expiresAt": l.ExpiresAt.UTC().Format(time.RFC3339)}
	if l.Email != "" {
		details["email"] = l.Email
	}
	if l.Kind != environment.LinkPassword {
		details["isInstanceAdmin"] = l.InstanceAdmin
		details["roles"] = l.Roles
	}
	return details
}

// OpenLink tells what a link's token is for; KindNotFound with code
// link_not_found, KindConflict with code link_used (detail "why": used, expired
// or revoked) and, for the first admin's, admin_exists.
func (s *Service) OpenLink(ctx context.Context, token string) (environment.Link, error) {
	link, _, err := s.openLink(ctx, token)
	return link, err
}

// LinkCompanies are the companies in which a link gives a role, by name. Whoever
// has the link may know them.
func (s *Service) LinkCompanies(ctx context.Context, link environment.Link) ([]environment.Company, error) {
	companies := make([]environment.Company, 0, len(link.Roles))
	for id := range link.Roles {
		company, err := s.store.Company(ctx, id)
		if environment.KindOf(err) == environment.KindNotFound {
			continue
		}
		if err != nil {
			return nil, err
		}
		companies = append(companies, company)
	}
	slices.SortFunc(companies, func(a, b environment.Company) int {
		return strings.Compare(environment.NameKey(a.Name), environment.NameKey(b.Name))
	})
	return companies, nil
}

func (s *Service) openLink(ctx context.Context, text string) (environment.Link, environment.Token, error) {
	token, ok := environment.ParseToken(text)
	if !ok || token.Kind != environment.TokenLink {
		return environment.Link{}, environment.Token{}, LinkNotFound()
	}
	link, err := s.store.Link(ctx, token.Hash[:])
	if err != nil {
		return environment.Link{}, environment.Token{}, err
	}
	if !link.Open(s.now()) {
		return environment.Link{}, environment.Token{}, LinkUsed(WhyClosed(link, true))
	}
	return link, token, s.stillMeant(ctx, link)
}

// stillMeant refuses an open link whose reason is gone.
func (s *Service) stillMeant(ctx context.Context, link environment.Link) error {
	switch link.Kind {
	case environment.LinkFirstAdmin:
		there, err := s.store.HasAdmin(ctx)
		if err != nil {
			return err
		}
		if there {
			return AdminExists()
		}
	case environment.LinkPassword:
		person, err := s.store.Person(ctx, *link.PersonID)
		if err != nil {
			return err
		}
		if person.DisabledAt != nil {
			return LinkUsed("revoked")
		}
	}
	return nil
}
